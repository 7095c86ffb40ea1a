//! Every fault of a stream has its class, and nothing of it is taken for something else.

use crate::{client, ms, prompts, quick, recorder, request, scripted, until};
use openloop_inference::{Api, Finish, Inference, InferenceErrorKind, TokenSource};
use openloop_measurer::{Describe, Operation, Outcome};
use openloop_testbed::{
    LineEnd, LlmServer, LlmServerBuilder, On, RoleChunk, Script, StreamEnd, StreamFault, UsageIn,
};
use openloop_workload::prompts::Vocabulary;
use std::time::Duration;
use tokio::time::Instant;

/// The class and the tokens of one call to a server with this fault, and what the server wrote.
async fn failure(fault: StreamFault) -> (&'static str, Option<u64>, usize) {
    let server = quick().fault(On::Always, fault).start().unwrap();
    let client = client(&server);
    let error = client.call(request(&client, 8)).await.unwrap_err();
    let tokens = error.output_tokens().map(|(tokens, _)| tokens);
    (error.class(), tokens, server.log()[0].tokens.len())
}

#[tokio::test]
async fn each_fault_has_its_class_and_keeps_its_tokens() {
    for (fault, class, tokens) in [
        (StreamFault::CutOff(3), "cut_off", Some(3)),
        (StreamFault::EndEarly(3), "cut_off", Some(3)),
        (StreamFault::Error(3), "stream_error", Some(3)),
        (StreamFault::Abort(3), "aborted", Some(3)),
        (StreamFault::Garbage(3), "malformed_event", Some(8)),
        (StreamFault::RoleOnly, "empty_answer", None),
        (StreamFault::Empty, "empty_answer", None),
        (StreamFault::Status(500), "http_500", None),
        (StreamFault::Status(429), "http_429", None),
    ] {
        let told = failure(fault.clone()).await;
        assert_eq!((told.0, told.1), (class, tokens), "{fault:?}");
    }
}

/// aiperf#688: of those that failed none may be missing among first tokens.
#[tokio::test]
async fn no_failure_makes_a_first_token_earlier() {
    let server = quick()
        .fault(On::Every(4), StreamFault::CutOff(2))
        .start()
        .unwrap();
    let client = client(&server);
    let recorder = recorder();
    for seq in 0..20 {
        let call = client.call(request(&client, 8));
        let _ = recorder.arrive_at(seq, Instant::now()).measure(call).await;
    }
    let steady = recorder.finish().steady();
    for name in ["ttft", "ttft_sent", "tpot", "e2e"] {
        assert!(steady.is_of_answers(name), "{name}");
        assert_eq!(steady.metric(name).unwrap().count(), 15, "{name}");
    }
    // What came of the others is still seen.
    assert_eq!(steady.metric("itl_chunk").unwrap().count(), 15 * 7 + 5);
}

/// guidellm#487: a hundred, whatever was asked for.
#[tokio::test]
async fn all_that_are_asked_are_in_flight_at_once() {
    let server = LlmServer::scripted(Script {
        ttft: Duration::from_secs(600),
        gap: ms(1),
    });
    let server = server.start().unwrap();
    let client = client(&server);
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..300 {
        let (client, request) = (client.clone(), request(&client, 1));
        running.spawn(async move { client.call(request).await.map(drop) });
    }
    until(|| server.under_way() == 300).await;
    running.shutdown().await;
    until(|| server.under_way() == 0).await;
}

#[tokio::test]
async fn a_server_that_sheds_is_not_one_that_fails() {
    let server = quick()
        .fault(On::Always, StreamFault::Status(503))
        .start()
        .unwrap();
    let client = client(&server);
    let (_, sample) = recorder()
        .arrive_at(0, Instant::now())
        .measure(client.call(request(&client, 8)))
        .await;
    assert_eq!(sample.outcome, Outcome::Rejected("http_503"));
}

#[tokio::test]
async fn what_the_server_says_of_a_bad_request_is_in_the_error() {
    let server = quick().start().unwrap();
    let client = client(&server);
    let bad = client.raw_request("{\"messages\":7").unwrap();
    let error = client.call(bad).await.unwrap_err();
    assert_eq!(error.class(), "http_400");
    assert!(error.to_string().contains("invalid JSON"), "{error}");
}

/// vLLM's TTFT of such a server is that of the role: 5 ms for a true 214 (vllm#3759).
#[tokio::test]
async fn a_role_ahead_of_the_first_token_is_no_token() {
    // Long enough for any machine to read the role by itself.
    let server = LlmServer::scripted(Script {
        ttft: ms(400),
        gap: ms(10),
    });
    let server = server.role(RoleChunk::AtOnce).start().unwrap();
    let client = client(&server);
    let recorder = recorder();
    let arrival = recorder.arrive_at(0, Instant::now());
    let (answer, _) = arrival.measure(client.call(request(&client, 2))).await;
    assert!(answer.unwrap().ttft_sent().unwrap() >= ms(400));
    let steady = recorder.finish().steady();
    let at_most = |name: &str| steady.metric(name).unwrap().max_ns().unwrap();
    assert!(at_most("ttft") >= 400_000_000);
    assert!(at_most("first_event") < at_most("ttft"));
}

/// Reasoning counts as tokens (guidellm#737), and is not what the user sees.
#[tokio::test]
async fn reasoning_is_the_first_token_and_not_the_first_visible_one() {
    let server = scripted().reasoning(3).start().unwrap();
    let client = client(&server);
    let answer = client.call(request(&client, 5)).await.unwrap();
    let course = answer.course().unwrap();
    let first = course.first_token().unwrap();
    let visible = course.first_visible().unwrap();
    // The fourth token is the first that is not reasoning.
    let before: Duration = course.gaps()[..3].iter().map(|gap| gap.length).sum();
    assert_eq!(visible - first, before);
    assert_eq!(answer.usage().reasoning_tokens, Some(3));
    assert_eq!(answer.output_tokens(), Some((5, TokenSource::Usage)));
}

async fn answer_of(server: LlmServerBuilder) -> (u64, TokenSource, u32, bool) {
    let server = server.start().unwrap();
    let client = client(&server);
    let answer = client.call(request(&client, 12)).await.unwrap();
    let (tokens, source) = answer.output_tokens().unwrap();
    let course = answer.course().unwrap();
    (
        tokens,
        source,
        course.chunks(),
        course.token_gaps().is_some(),
    )
}

/// llama.cpp#12102, sglang#24254: usage is never, always, in the last or in an extra chunk.
#[tokio::test]
async fn tokens_are_the_servers_wherever_usage_stands_and_one_a_chunk_where_it_does_not() {
    for usage in [
        UsageIn::LastChunk,
        UsageIn::LastToken,
        UsageIn::OwnChunk,
        UsageIn::EveryChunk,
    ] {
        let told = answer_of(quick().usage(usage)).await;
        assert_eq!(told, (12, TokenSource::Usage, 12, true), "{usage:?}");
    }
    let told = answer_of(quick().usage(UsageIn::Nowhere)).await;
    assert_eq!(told, (12, TokenSource::Assumed, 12, true));
}

/// sglang#12064, vllm#42661: a chunk of four tokens is four tokens, and its gap is shared out where that is told.
#[tokio::test]
async fn chunks_of_several_tokens_are_not_taken_for_tokens() {
    let told = answer_of(quick().tokens_per_chunk(4)).await;
    assert_eq!(
        told,
        (12, TokenSource::Usage, 3, false),
        "nobody says how many each had"
    );
    let told = answer_of(quick().tokens_per_chunk(4).usage(UsageIn::EveryChunk)).await;
    assert_eq!(told, (12, TokenSource::Usage, 3, true));
    let server = scripted()
        .tokens_per_chunk(4)
        .usage(UsageIn::EveryChunk)
        .start()
        .unwrap();
    let client = client(&server);
    let recorder = recorder();
    let call = client.call(request(&client, 12));
    let (answer, _) = recorder.arrive_at(0, Instant::now()).measure(call).await;
    let gaps: Vec<_> = answer.unwrap().course().unwrap().gaps().to_vec();
    assert!(gaps.iter().all(|gap| gap.tokens == Some(4)), "{gaps:?}");
    let steady = recorder.finish().steady();
    assert_eq!(steady.metric("itl").unwrap().count(), 8);
    assert_eq!(steady.metric("itl_chunk").unwrap().count(), 2);
    // Four tokens of 10 ms each.
    let ratio = steady.metric("itl_chunk").unwrap().mean_ns().unwrap()
        / steady.metric("itl").unwrap().mean_ns().unwrap();
    assert!((ratio - 4.0).abs() < 1e-6, "{ratio}");
}

/// `data:` without a space, CRLF and CR framing: never parsed by vLLM's own client.
#[tokio::test]
async fn every_framing_that_the_standard_allows_is_read() {
    for end in [LineEnd::Lf, LineEnd::Cr, LineEnd::CrLf] {
        let told = answer_of(quick().line_end(end).without_space().without_done()).await;
        assert_eq!(told, (12, TokenSource::Usage, 12, true), "{end:?}");
    }
}

/// vllm#28227: without `ignore_eos` the model stops when it likes, and the report says how often.
#[tokio::test]
async fn why_answers_ended_is_counted_beside_what_was_asked() {
    let server = quick().stops_after(4).start().unwrap();
    for (ignore, finish, tokens) in [(false, Finish::Stop, 4), (true, Finish::Length, 12)] {
        let client = Inference::builder(&server.url(), "testbed")
            .ignore_eos(ignore)
            .build()
            .unwrap();
        let recorder = recorder();
        let call = client.call(request(&client, 12));
        let (answer, _) = recorder.arrive_at(0, Instant::now()).measure(call).await;
        let answer = answer.unwrap();
        assert_eq!(answer.finish(), Some(finish));
        assert_eq!(answer.output_tokens(), Some((tokens, TokenSource::Usage)));
        let counts: Vec<_> = recorder.finish().steady().counts().collect();
        for wanted in [
            (finish.name(), 1),
            ("output_tokens", tokens),
            ("asked_output_tokens", 12),
            ("input_tokens", 8),
            ("asked_input_tokens", 8),
            ("tokens_from_usage", 1),
        ] {
            assert!(counts.contains(&wanted), "{wanted:?} in {counts:?}");
        }
        let achieved = client.totals().achieved();
        assert_eq!(achieved.output.unwrap().achieved.total, u128::from(tokens));
    }
}

/// A limit on the time of a call drops its future: the server must not go on generating.
#[tokio::test]
async fn a_call_that_is_given_up_closes_its_stream_and_the_server_stops() {
    let server = scripted().start().unwrap();
    let client = client(&server);
    let call = client.call(request(&client, 1000));
    let late = tokio::time::timeout(ms(150), call).await;
    assert!(late.is_err());
    until(|| server.under_way() == 0).await;
    let log = server.log();
    assert_eq!(log[0].end, StreamEnd::ClientGone);
    assert!(log[0].tokens.len() < 1000, "{}", log[0].tokens.len());
    let totals = client.totals();
    assert_eq!(totals.given_up(), 1);
    assert_eq!(totals.given_up_tokens(), totals.output_tokens());
    assert!(totals.given_up_tokens() <= log[0].tokens.len() as u64);
}

/// llama-server says `keep-alive` and closes: the next request meets that, is sent anew, and is counted.
#[tokio::test]
async fn a_connection_that_closes_behind_its_stream_fails_no_request() {
    let server = quick().closes().start().unwrap();
    let client = client(&server);
    for _ in 0..40 {
        client.call(request(&client, 2)).await.unwrap();
    }
    assert_eq!(server.log().len(), 40);
}

#[tokio::test]
async fn answers_that_are_not_streamed_have_no_first_token_and_an_end() {
    let server = quick().start().unwrap();
    let client = Inference::builder(&server.url(), "testbed")
        .stream(false)
        .keep_text(true)
        .build()
        .unwrap();
    let recorder = recorder();
    let call = client.call(request(&client, 3));
    let (answer, _) = recorder.arrive_at(0, Instant::now()).measure(call).await;
    let answer = answer.unwrap();
    assert!(answer.course().is_none() && answer.ttft_sent().is_none());
    assert_eq!(answer.text(), Some(" tok tok tok"));
    assert_eq!(answer.output_tokens(), Some((3, TokenSource::Usage)));
    let steady = recorder.finish().steady();
    assert!(steady.metric("ttft").is_none());
    assert!(steady.metric("e2e").unwrap().min_ns().unwrap() >= 7_000_000);
}

#[tokio::test]
async fn text_and_token_ids_reach_the_server_in_the_length_asked_for() {
    let server = quick().start().unwrap();
    for api in [
        Api::Chat,
        Api::Text,
        Api::TokenIds(Vocabulary::new(1000..2000).unwrap()),
    ] {
        let client = Inference::builder(&format!("{}/v1/", server.url()), "testbed")
            .api(api)
            .build()
            .unwrap();
        let prompt = prompts(123, 2).prompt(1, 0);
        let answer = client.call(client.request(prompt).unwrap()).await.unwrap();
        assert_eq!(answer.usage().input_tokens, Some(123), "{api:?}");
    }
}

#[test]
fn fields_that_are_the_clients_are_refused_and_others_are_sent() {
    let built = |name: &str, value: serde_json::Value| {
        Inference::builder("http://127.0.0.1:1", "m")
            .field(name, value)
            .build()
    };
    for name in ["model", "stream", "messages", "max_tokens"] {
        let error = built(name, 1.into()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
    assert!(
        built("n", 2.into())
            .unwrap_err()
            .to_string()
            .contains("several")
    );
    let client = built("temperature", 0.into()).unwrap();
    let request = client.request(prompts(1, 5).prompt(1, 0)).unwrap();
    let body: serde_json::Value = serde_json::from_slice(request.http().body()).unwrap();
    assert_eq!(body["temperature"], 0);
    assert_eq!(body["max_tokens"], 5);
    assert_eq!(body["stream_options"]["include_usage"], true);
    assert!(
        Inference::builder("http://127.0.0.1:1", " ")
            .build()
            .is_err()
    );
    assert!(matches!(
        InferenceErrorKind::Empty.to_string().as_str(),
        "the answer has not one token"
    ));
}

#[test]
fn errors_describe_themselves() {
    fn describes<T: Describe>() {}
    describes::<openloop_inference::InferenceError>();
}

/// Every test that FAULTS.md names is there.
#[test]
fn every_fault_names_a_test_that_there_is() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = std::fs::read_to_string(root.join("protocols/inference/FAULTS.md")).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| "));
    let mut checked = 0;
    for row in rows.filter(|row| !row.starts_with("| Fault") && !row.starts_with("| ---")) {
        let tests = row.rsplit(" | ").next().unwrap();
        let mut named = 0;
        for test in tests.trim_end_matches(" |").split(", `") {
            let (name, path) = test.trim_start_matches('`').split_once("` (").unwrap();
            let file = root.join(path.trim_end_matches(')'));
            let source = std::fs::read_to_string(&file).unwrap();
            assert!(
                source.contains(&format!("fn {name}(")),
                "{name} is not in {path}"
            );
            named += 1;
        }
        assert!(named > 0, "{row}");
        checked += named;
    }
    assert!(checked > 40, "{checked}");
}
