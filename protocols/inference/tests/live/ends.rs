//! Answers that do not come to their end.

use crate::{Kind, builder, recorder, request, until};
use openloop_http::{BodyReader, Http, Piece};
use openloop_inference::{Observed, Request};
use openloop_measurer::{Operation, Outcome};
use openloop_testbed::LanguageModel;
use std::sync::Arc;
use tokio::time::Instant;

/// More than is generated while a test looks on.
const LONG: u32 = 1500;

struct Body(Vec<u8>);

impl BodyReader for Body {
    fn data(&mut self, data: &bytes::Bytes, _: Piece<'_>) {
        self.0.extend_from_slice(data);
    }
}

/// What llama-server says of itself.
async fn metrics(server: &LanguageModel) -> Observed {
    let http = Http::builder(&format!("{}/metrics", server.url()));
    let http = http.build().unwrap();
    let mut body = Body(Vec::new());
    http.stream(http.request(), &mut body).await.unwrap();
    Observed::parse(&String::from_utf8_lossy(&body.0))
}

/// A limit on the time of a call drops its future: the server must not go on.
#[tokio::test]
async fn a_call_that_is_given_up_is_not_generated_any_further() {
    for (kind, server) in [Kind::Dasllama, Kind::LlamaServer]
        .into_iter()
        .zip(own_servers())
    {
        let client = builder(&server).ignore_eos(true).build().unwrap();
        let call = client.call(request(&client, 20, LONG));
        let has_begun = async {
            until("a third token", || client.totals().output_tokens() >= 3).await;
        };
        tokio::select! {
            answer = call => panic!("{kind:?}: ended by itself: {answer:?}"),
            () = has_begun => {}
        }
        // The future is gone, and its socket with it.
        assert_eq!(client.totals().given_up(), 1);
        assert!(client.totals().given_up_tokens() >= 3);
        match kind {
            Kind::Dasllama => {
                let log = || server.log().unwrap();
                let evicts = || log().contains("client disconnected mid-generation");
                until("dasllama tells that its client has gone", evicts).await;
            }
            Kind::LlamaServer => loop {
                let seen = metrics(&server).await;
                if seen.running == Some(0.0) {
                    let generated = seen.output_tokens.unwrap();
                    println!("llama-server: {generated} tokens of {LONG}");
                    assert!(generated < f64::from(LONG), "it went on: {seen:?}");
                    break;
                }
            },
        }
        // Its place is free for the next.
        client.call(request(&client, 8, 2)).await.unwrap();
    }
}

/// Servers of one stream at a time that nobody else asks.
fn own_servers() -> impl Iterator<Item = LanguageModel> {
    let llama = crate::is_full().then(|| LanguageModel::llama_server(1).unwrap());
    [LanguageModel::dasllama(1).unwrap()]
        .into_iter()
        .chain(llama)
}

/// dasllama ends at a request whose `max_tokens` is a text. Whoever it served then, and whoever comes later, is counted
/// under what happened to them.
#[tokio::test]
async fn when_the_server_dies_every_arrival_is_accounted_for() {
    let server = LanguageModel::dasllama(2).unwrap();
    let client = builder(&server).build().unwrap();
    let recorder = Arc::new(recorder());
    let arrive = |seq: u64, request: Request| {
        let (recorder, client) = (recorder.clone(), client.clone());
        tokio::spawn(async move {
            let arrival = recorder.arrive_at(seq, Instant::now());
            arrival.measure(client.call(request)).await
        })
    };
    let ask = |input, output| request(&client, input, output);
    let (whole, sample) = arrive(0, ask(8, 2)).await.unwrap();
    assert!(whole.is_ok() && sample.outcome == Outcome::Ok);
    let before = client.totals().output_tokens();
    let streams = [arrive(1, ask(20, LONG)), arrive(2, ask(20, LONG))];
    until("tokens of both", || {
        client.totals().output_tokens() >= before + 8
    })
    .await;
    let deadly = format!(
        r#"{{"model":"{}","messages":[{{"role":"user","content":"a"}}],"max_tokens":"abc"}}"#,
        server.model()
    );
    let deadly = client.raw_request(deadly).unwrap();
    let (broken, _) = arrive(3, deadly).await.unwrap();
    until("the server is gone", || !server.listens()).await;
    let class = broken.unwrap_err().class();
    println!("the request that killed it: {class}");
    assert!(
        ["closed", "reset", "connect_refused"].contains(&class),
        "{class}"
    );
    let mut tokens = 0;
    for stream in streams {
        let (cut, sample) = stream.await.unwrap();
        let cut = cut.unwrap_err();
        assert_eq!(cut.class(), "cut_off", "{cut}");
        assert_eq!(sample.outcome, Outcome::Failed("cut_off"));
        tokens += cut.output_tokens().map_or(0, |(tokens, _)| tokens);
    }
    assert!(tokens >= 6, "{tokens}");
    for seq in 4..8 {
        let (refused, _) = arrive(seq, ask(8, 2)).await.unwrap();
        assert_eq!(refused.unwrap_err().class(), "connect_refused");
    }
    let run = recorder.finish();
    let counts: Vec<_> = run.steady().counts().collect();
    assert!(counts.contains(&("cut_off_tokens", tokens)), "{counts:?}");
    let counts = run.counts();
    assert_eq!((counts.scheduled, counts.ok, counts.failed), (8, 1, 7));
}
