use super::*;
use crate::{TokenSource, recorded};
use proptest::prelude::*;
use std::time::Duration;

/// What a reading has to say of an answer.
#[derive(Debug, PartialEq)]
struct Told {
    wrong: Option<InferenceErrorKind>,
    chunks: u32,
    tokens: Option<(u64, TokenSource)>,
    finish: Option<Finish>,
    usage: Usage,
    text: String,
}

fn reading(streams: bool) -> Reading {
    Reading::new(
        streams,
        true,
        Totals::default(),
        Arc::new(Goodput::default()),
        None,
    )
}

/// Reads the pieces, one a millisecond.
fn read<'a>(
    is_json: bool,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    broke: Option<&str>,
) -> Told {
    let sent = Instant::now();
    let mut reading = reading(!is_json);
    reading.begin(StatusCode::OK, is_json, sent);
    for (at, piece) in (1..).zip(pieces) {
        reading.take(piece, sent + Duration::from_millis(at));
    }
    let wrong = reading.conclude(broke.map(str::to_owned));
    let course = reading.course.as_ref().unwrap();
    Told {
        wrong,
        chunks: course.chunks(),
        tokens: course.output_tokens(),
        finish: reading.finish,
        usage: reading.usage,
        text: reading.text.clone(),
    }
}

fn stream(events: &[&str]) -> Vec<u8> {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    events.collect::<String>().into_bytes()
}

fn of(events: &[&str]) -> Told {
    read(false, [&stream(events)[..]], None)
}

const ROLE: &str =
    r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}"#;
const HI: &str = r#"{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str =
    r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}"#;

#[test]
fn usage_is_found_wherever_it_stands() {
    let in_last = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
    let in_token = r#"{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
    for events in [
        &[ROLE, HI, HI, STOP, USAGE, "[DONE]"][..],
        &[ROLE, HI, HI, in_last, "[DONE]"],
        &[ROLE, HI, in_token, "[DONE]"],
        &[HI, USAGE, HI, STOP],
    ] {
        let told = of(events);
        assert_eq!(told.wrong, None, "{events:?}");
        assert_eq!(told.tokens, Some((2, TokenSource::Usage)), "{events:?}");
        assert_eq!(told.usage.input_tokens, Some(7));
        assert_eq!((told.chunks, told.text.as_str()), (2, "hihi"));
    }
    let told = of(&[ROLE, HI, HI, STOP, "[DONE]"]);
    assert_eq!(told.tokens, Some((2, TokenSource::Assumed)));
}

#[test]
fn tokens_of_a_chunk_are_the_difference_of_usages_only_where_all_tell() {
    let with = |n| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"x"}}}}],"usage":{{"completion_tokens":{n}}}}}"#
        )
    };
    let (two, five) = (with(2), with(5));
    let sent = Instant::now();
    let of = |events: &[&str]| {
        let mut reading = reading(true);
        reading.begin(StatusCode::OK, false, sent);
        for (at, event) in (1..).zip(events) {
            reading.take(&stream(&[event]), sent + Duration::from_millis(30 * at));
        }
        assert_eq!(reading.conclude(None), None);
        let course = reading.course.clone().unwrap();
        course.token_gaps().map(|gaps| {
            gaps.map(|(gap, tokens)| (gap.as_millis(), tokens))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(of(&[&two, &five, STOP]), Some(vec![(10, 3)]));
    // The first says nothing: which of the five were the second's is not known.
    assert_eq!(of(&[HI, &five, STOP]), None);
}

#[test]
fn answers_without_a_token_are_a_class_and_have_no_ttft() {
    for events in [
        &[ROLE, STOP, "[DONE]"][..],
        &[
            r#"{"choices":[{"text":"","finish_reason":"stop"}]}"#,
            "[DONE]",
        ],
        &["[DONE]"],
    ] {
        let told = of(events);
        assert_eq!(told.wrong, Some(InferenceErrorKind::Empty), "{events:?}");
        assert_eq!(told.chunks, 0);
    }
}

#[test]
fn what_breaks_off_keeps_its_tokens_and_says_how() {
    let whole = stream(&[ROLE, HI, HI]);
    let broken = read(false, [&whole[..]], Some("connection reset"));
    assert!(matches!(broken.wrong, Some(InferenceErrorKind::CutOff(why)) if why.contains("reset")));
    assert_eq!(broken.tokens, Some((2, TokenSource::Assumed)));
    let ended = of(&[ROLE, HI]);
    assert!(matches!(ended.wrong, Some(InferenceErrorKind::CutOff(why)) if why.contains("[DONE]")));
    // Behind [DONE] a bad end of the connection takes nothing away.
    let done = stream(&[HI, STOP, "[DONE]"]);
    assert_eq!(read(false, [&done[..]], Some("unexpected end")).wrong, None);
    // A finish reason alone, and [DONE] alone, are ends.
    assert_eq!(of(&[HI, STOP]).wrong, None);
    assert_eq!(of(&[HI, "[DONE]"]).wrong, None);
}

#[test]
fn what_the_server_complains_of_is_its_class_and_what_cannot_be_read_another() {
    let error = r#"{"error":{"message":"out of blocks","code":500}}"#;
    let told = of(&[HI, error, "[DONE]"]);
    assert_eq!(
        told.wrong,
        Some(InferenceErrorKind::Stream("out of blocks".to_owned()))
    );
    assert_eq!(told.chunks, 1);
    let told = of(&[HI, r#"{"choices":[{"delta""#, HI, STOP, "[DONE]"]);
    assert!(matches!(told.wrong, Some(InferenceErrorKind::Malformed(_))));
    assert_eq!(told.chunks, 2, "what comes behind it is still counted");
    let abort = r#"{"choices":[{"delta":{},"finish_reason":"abort"}]}"#;
    assert_eq!(
        of(&[HI, abort, "[DONE]"]).wrong,
        Some(InferenceErrorKind::Aborted)
    );
    let named = b"event: error\ndata: {\"detail\":\"no\"}\n\n";
    assert!(matches!(
        read(false, [&named[..]], None).wrong,
        Some(InferenceErrorKind::Stream(_))
    ));
}

#[test]
fn an_answer_that_is_not_streamed_is_read_whole() {
    let body = br#"{"choices":[{"index":0,"message":{"role":"assistant","content":"hi you"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}"#;
    let told = read(true, body.chunks(7), None);
    assert_eq!(told.wrong, None);
    assert_eq!(
        (told.text.as_str(), told.finish),
        ("hi you", Some(Finish::Length))
    );
    assert_eq!(told.usage.output_tokens, Some(5));
    let empty = br#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#;
    assert_eq!(
        read(true, [&empty[..]], None).wrong,
        Some(InferenceErrorKind::Empty)
    );
    assert!(matches!(
        read(true, [&body[..20]], None).wrong,
        Some(InferenceErrorKind::Malformed(_))
    ));
}

#[test]
fn a_status_that_is_no_success_is_told_with_what_the_server_said() {
    let mut reading = reading(true);
    reading.begin(StatusCode::BAD_REQUEST, true, Instant::now());
    reading.take(
        br#"{"error":{"code":400,"message":"'messages' is required"}}"#,
        Instant::now(),
    );
    let told = reading.conclude(None).unwrap();
    assert_eq!(
        told.to_string(),
        "the server answered 400 Bad Request: 'messages' is required"
    );
}

#[test]
fn tokens_count_when_they_come_and_are_set_right_at_the_end() {
    let totals = Totals::default();
    let sent = Instant::now();
    let begin = || {
        let goodput = Arc::new(Goodput::default());
        let mut reading = Reading::new(true, false, totals.clone(), goodput, None);
        reading.begin(StatusCode::OK, false, sent);
        reading.take(&stream(&[ROLE, HI, HI]), sent);
        reading
    };
    let mut whole = begin();
    assert_eq!(totals.output_tokens(), 2);
    whole.take(
        &stream(&[
            STOP,
            r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":9}}"#,
        ]),
        sent,
    );
    assert_eq!(whole.conclude(None), None);
    drop(whole);
    assert_eq!((totals.output_tokens(), totals.input_tokens()), (9, 7));
    drop(begin());
    assert_eq!((totals.given_up(), totals.given_up_tokens()), (1, 2));
    assert_eq!(totals.output_tokens(), 11);
}

/// Written by hand in the framings of two real servers: one event for each token, with the role ahead; and text
/// completions whose last event has usage and an empty text.
fn fixtures() -> Vec<(String, Vec<u8>, u32, u64)> {
    let chat = stream(&[
        ROLE,
        HI,
        r#"{"choices":[{"index":0,"delta":{"content":" é😀"}}],"usage":null}"#,
        HI,
        STOP,
        r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":1}},"timings":{"prompt_ms":12.5,"predicted_ms":30}}"#,
        "[DONE]",
    ]);
    let text = "\u{feff}: ping\r\n\r\ndata:{\"choices\":[{\"text\":\"a\",\"finish_reason\":null}]}\r\n\r\n\
        data:{\"choices\":[{\"text\":\"ü\",\"finish_reason\":null}]}\r\n\r\n\
        data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}],\r\ndata: \"usage\":{\"prompt_tokens\":4,\"completion_tokens\":2}}\r\n\r\ndata: [DONE]\r\n\r\n";
    vec![
        ("chat".to_owned(), chat, 3, 4),
        ("text".to_owned(), text.as_bytes().to_vec(), 2, 2),
    ]
}

/// Streams of real servers: name, body, chunks with tokens, and tokens.
fn streams_of_servers() -> Vec<(String, Vec<u8>, u32, u64)> {
    let known = [
        ("llama-server/chat", 5, 5),
        ("llama-server/chat_stop", 11, 12),
        ("llama-server/comp", 5, 5),
        ("llama-server/comp_ids", 3, 3),
        ("llama-server/utf8", 15, 16),
        ("dasllama/chat", 5, 5),
        ("dasllama/chat_stop", 16, 16),
        ("dasllama/comp", 5, 5),
    ];
    let read = |(name, chunks, tokens): (&str, u32, u64)| {
        (name.to_owned(), recorded::of(name).body, chunks, tokens)
    };
    known.into_iter().map(read).collect()
}

/// Without `usage` chunks are all that can be counted, and the longest stream has a hundred of them.
#[test]
fn streams_without_usage_and_long_ones_are_read_as_well() {
    for (name, tokens, source) in [
        ("llama-server/chat_nousage", 3, TokenSource::Assumed),
        ("dasllama/chat_nousage", 3, TokenSource::Assumed),
        ("llama-server/ignore_eos", 100, TokenSource::Usage),
    ] {
        let body = recorded::of(name).body;
        let told = read(false, [&body[..]], None);
        assert_eq!(told.wrong, None, "{name}");
        assert_eq!(told.tokens, Some((tokens, source)), "{name}");
        for cut in (0..body.len()).step_by(97) {
            let (one, two) = body.split_at(cut);
            assert_eq!(read(false, [one, two], None), told, "{name} cut at {cut}");
        }
    }
}

/// What a server says of a request that it refuses stands in the error, and an answer that is not streamed is read whole.
#[test]
fn what_real_servers_answer_without_a_stream_is_read_as_well() {
    for (name, said) in [
        ("llama-server/bad_json", "parse_error"),
        ("llama-server/bad_nomsg", "messages"),
        ("llama-server/bad_type", "max_tokens"),
        (
            "llama-server/too_long",
            "exceeds the available context size",
        ),
        ("dasllama/bad_json", "invalid JSON"),
        ("dasllama/bad_nomsg", "messages"),
        ("dasllama/comp_ids", "prompt"),
    ] {
        let recorded = recorded::of(name);
        assert_eq!((recorded.status.as_u16(), recorded.is_json), (400, true));
        let mut reading = reading(true);
        reading.begin(recorded.status, recorded.is_json, Instant::now());
        reading.take(&recorded.body, Instant::now());
        match reading.conclude(None) {
            Some(InferenceErrorKind::Status { status, message }) => {
                assert_eq!(status, recorded.status);
                assert!(message.contains(said), "{name}: {message}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    for name in ["llama-server/nonstream", "dasllama/nonstream"] {
        let told = read(true, [&recorded::of(name).body[..]], None);
        assert_eq!(told.wrong, None, "{name}");
        assert_eq!(told.usage.output_tokens, Some(5), "{name}");
        assert_eq!(told.finish, Some(Finish::Length), "{name}");
    }
}

#[test]
fn streams_of_real_servers_are_read_alike_whatever_the_split() {
    for (name, body, chunks, tokens) in fixtures().into_iter().chain(streams_of_servers()) {
        let whole = read(false, [&body[..]], None);
        assert_eq!(whole.wrong, None, "{name}");
        assert_eq!(
            (whole.chunks, whole.tokens),
            (chunks, Some((tokens, TokenSource::Usage))),
            "{name}"
        );
        assert!(
            whole.usage.input_tokens.is_some() && whole.finish.is_some(),
            "{name}"
        );
        assert!(!whole.text.contains('\u{fffd}'), "{name}: {}", whole.text);
        for cut in 0..=body.len() {
            let (one, two) = body.split_at(cut);
            assert_eq!(read(false, [one, two], None), whole, "{name} cut at {cut}");
        }
        for length in 1..9 {
            assert_eq!(
                read(false, body.chunks(length), None),
                whole,
                "{name} by {length}"
            );
        }
        // Cut off anywhere it keeps what had come, and is a whole answer only where nothing is missing.
        for cut in 0..body.len() {
            let told = read(false, [&body[..cut]], Some("reset"));
            assert!(
                told.chunks <= chunks && whole.text.starts_with(&told.text),
                "{name} {cut}"
            );
            let has_done = body[..cut].windows(6).any(|bytes| bytes == b"[DONE]");
            assert!(told.wrong.is_some() || has_done, "{name} {cut}");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_do_harm(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..20), json in any::<bool>()) {
        let told = read(json, pieces.iter().map(Vec::as_slice), None);
        prop_assert!(told.wrong.is_some() || told.chunks > 0);
    }

    #[test]
    fn no_json_does_harm(words in proptest::collection::vec(proptest::sample::select(vec![
        "{", "}", "[", "]", ":", ",", "null", "7", "-1e400", "\"choices\"", "\"delta\"", "\"content\"", "\"usage\"",
        "\"completion_tokens\"", "\"\\ud800\"", "\"x\"", "\"error\"", "\"tool_calls\"", "\"finish_reason\"",
    ]), 0..20)) {
        let told = of(&[&words.concat()]);
        prop_assert!(told.wrong.is_some());
    }
}
