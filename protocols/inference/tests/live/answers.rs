//! What real answers are taken for.

use crate::{Kind, builder, recorder, request, servers};
use openloop_inference::{Answer, Api, Connections, Finish, Inference, TokenSource};
use openloop_measurer::Operation;
use openloop_workload::prompts::Vocabulary;
use std::time::Duration;
use tokio::time::Instant;

async fn answer(client: &Inference, input: u32, output: u32) -> Answer {
    client.call(request(client, input, output)).await.unwrap()
}

/// The servers count as well: tokens by `usage`, and the time to the first by their own clock, which runs from when they
/// read the request to when they had the token, and so can be no longer than what their client sees.
#[tokio::test]
async fn streams_have_the_tokens_and_the_times_that_their_server_has() {
    for (kind, server) in servers() {
        for api in [Api::Chat, Api::Text] {
            let client = builder(server).api(api).build().unwrap();
            let answer = answer(&client, 100, 24).await;
            let course = answer.course().unwrap();
            let (tokens, source) = answer.output_tokens().unwrap();
            println!("{kind:?} {api:?}: {answer:?}");
            assert_eq!(source, TokenSource::Usage);
            let chunks = u64::from(course.chunks());
            match answer.finish() {
                Some(Finish::Length) => assert_eq!((tokens, chunks), (24, 24), "{kind:?} {api:?}"),
                // The token that ends it may be counted, and is not sent.
                Some(Finish::Stop) => assert!([chunks, chunks + 1].contains(&tokens)),
                other => panic!("{kind:?} {api:?}: {other:?}"),
            }
            assert!(course.token_gaps().is_some());
            assert!(answer.usage().input_tokens.unwrap() >= 100);
            let seen = answer.ttft_sent().unwrap();
            let own = answer.server_times();
            assert!(
                seen >= own.prefill.unwrap(),
                "{kind:?} {api:?}: {seen:?}, {own:?}"
            );
        }
    }
}

/// The mean time between tokens is the server's own for all of them, divided: no chunk was left out, and none counted
/// that is no token. A busy machine may keep the server from running between its clock and its socket: then once more.
#[tokio::test]
async fn the_time_per_token_is_the_servers_own() {
    const TOKENS: u32 = 64;
    for (kind, server) in servers() {
        let client = builder(server).ignore_eos(true).build().unwrap();
        let mut ratios = Vec::new();
        for _ in 0..5 {
            let answer = answer(&client, 20, TOKENS).await;
            let course = answer.course().unwrap();
            let seen = course.last_token().unwrap() - course.first_token().unwrap();
            let own = answer.server_times().decode.unwrap();
            ratios.push(seen.as_secs_f64() / own.as_secs_f64());
            if (0.9..1.1).contains(ratios.last().unwrap()) && course.chunks() > 1 {
                break;
            }
        }
        println!("{kind:?}: {ratios:?}");
        assert!(
            (0.9..1.1).contains(ratios.last().unwrap()),
            "{kind:?}: {ratios:?}"
        );
    }
}

/// dasllama says who speaks as soon as it has a place for the request, llama-server with the first token.
#[tokio::test]
async fn a_role_that_comes_before_the_prompt_is_read_is_no_token() {
    for (kind, server) in servers() {
        let client = builder(server).build().unwrap();
        let recorder = recorder();
        let arrival = recorder.arrive_at(0, Instant::now());
        let (answer, _) = arrival.measure(client.call(request(&client, 600, 4))).await;
        let answer = answer.unwrap();
        let prefill = answer.server_times().prefill.unwrap();
        let steady = recorder.finish().steady();
        let metric = |name: &str| steady.metric(name).and_then(|metric| metric.max_ns());
        let ttft = Duration::from_nanos(metric("ttft").unwrap());
        assert!(ttft >= prefill, "{kind:?}: {ttft:?}, {prefill:?}");
        let role = metric("first_event").map(Duration::from_nanos);
        match kind {
            // Of 600 tokens the prefill takes longer than all else.
            Kind::Dasllama => assert!(role.unwrap() < ttft / 2, "{role:?}, {ttft:?}"),
            Kind::LlamaServer => assert_eq!(role, None),
        }
    }
}

#[tokio::test]
async fn answers_that_come_whole_have_tokens_and_an_end() {
    for (kind, server) in servers() {
        for api in [Api::Chat, Api::Text] {
            let client = builder(server).api(api).stream(false).keep_text(true);
            let client = client.build().unwrap();
            let recorder = recorder();
            let arrival = recorder.arrive_at(0, Instant::now());
            let call = client.call(request(&client, 20, 8));
            let answer = arrival.measure(call).await.0.unwrap();
            assert!(answer.course().is_none() && answer.ttft_sent().is_none());
            assert!(!answer.text().unwrap().is_empty(), "{kind:?} {api:?}");
            let (tokens, source) = answer.output_tokens().unwrap();
            assert!((1..=8).contains(&tokens) && source == TokenSource::Usage);
            let steady = recorder.finish().steady();
            assert!(steady.metric("ttft").is_none());
            assert_eq!(steady.metric("e2e").unwrap().count(), 1);
        }
    }
}

/// Without usage the chunks are counted, and the report says that it is so.
#[tokio::test]
async fn without_usage_chunks_are_taken_for_tokens() {
    for (kind, server) in servers() {
        let client = builder(server).usage(false).build().unwrap();
        let answer = answer(&client, 20, 6).await;
        let chunks = u64::from(answer.course().unwrap().chunks());
        let (tokens, source) = answer.output_tokens().unwrap();
        assert_eq!((tokens, source), (chunks, TokenSource::Assumed), "{kind:?}");
    }
}

#[tokio::test]
async fn token_ids_are_as_many_as_were_asked_for() {
    for (kind, server) in servers() {
        let ids = Api::TokenIds(Vocabulary::new(1000..30_000).unwrap());
        let client = builder(server).api(ids).ignore_eos(true).build().unwrap();
        let answer = client.call(request(&client, 77, 5)).await;
        match kind {
            Kind::Dasllama => {
                let refused = answer.unwrap_err();
                assert_eq!(refused.class(), "http_400");
                assert!(refused.to_string().contains("prompt"), "{refused}");
            }
            Kind::LlamaServer => {
                let answer = answer.unwrap();
                assert_eq!(answer.usage().input_tokens, Some(77));
                assert_eq!(answer.output_tokens(), Some((5, TokenSource::Usage)));
            }
        }
    }
}

/// What the server has against a request is in the error.
#[tokio::test]
async fn refusals_have_their_class_and_their_words() {
    for (kind, server) in servers() {
        let client = builder(server).build().unwrap();
        let bad = client.raw_request("{\"messages\":7").unwrap();
        let error = client.call(bad).await.unwrap_err();
        assert_eq!(error.class(), "http_400", "{kind:?}: {error}");
        assert!(error.to_string().to_lowercase().contains("json"), "{error}");
        if kind == Kind::Dasllama {
            let other = Inference::builder(&server.url(), "another")
                .build()
                .unwrap();
            let error = other.call(request(&other, 8, 2)).await.unwrap_err();
            assert_eq!(error.class(), "http_404");
            assert!(error.to_string().contains("another"), "{error}");
        }
    }
}

/// llama-server closes the connection behind each stream, though it says that it will keep it for a hundred requests.
#[tokio::test]
async fn a_connection_that_was_promised_and_is_closed_fails_no_request() {
    const REQUESTS: u64 = 20;
    for (kind, server) in servers() {
        let client = builder(server).connections(Connections::pool(1));
        let client = client.build().unwrap();
        client.prepare().await.unwrap();
        let mut again = 0;
        for _ in 0..REQUESTS {
            let answer = answer(&client, 8, 2).await;
            again += u64::from(answer.stages().retries);
        }
        let sockets = client.sockets();
        let (opened, reused) = (sockets.opened(), sockets.reused());
        println!("{kind:?}: {opened} opened, {reused} reused, {again} sent again");
        match kind {
            Kind::Dasllama => assert_eq!((opened, again), (1, 0)),
            Kind::LlamaServer => assert!(opened >= REQUESTS, "{opened} opened"),
        }
    }
}
