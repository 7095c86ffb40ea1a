//! Every format, read from files written by hand in its form.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::traces::{Format, Trace, TraceError};

fn data(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn read(text: &str) -> Result<Trace, TraceError> {
    Trace::read(text.as_bytes())
}

fn offsets(trace: &Trace) -> Vec<u64> {
    (trace.requests().iter())
        .map(|request| request.offset_ns)
        .collect()
}

#[test]
fn azure_times_are_exact_to_their_seventh_decimal() {
    let trace = Trace::read(&data("azure.csv")[..]).unwrap();
    assert_eq!(trace.format(), Format::Azure);
    assert_eq!(
        offsets(&trace),
        [0, 52_000_000, 1_000_000_100, 86_396_020_040_000]
    );
    let tokens: Vec<_> = (trace.requests().iter())
        .map(|request| (request.line, request.input_tokens, request.output_tokens))
        .collect();
    let expected = [
        (2, Some(4808), Some(10)),
        (3, Some(3180), Some(8)),
        (4, Some(110), Some(27)),
        (5, Some(7433), Some(0)),
    ];
    assert_eq!(tokens, expected);
    // date -u -d '2023-11-16 18:17:03' +%s
    assert_eq!(trace.start_ns(), 1_700_158_623_979_960_000);
    assert_eq!(trace.quality().rounded, 0);
}

#[test]
fn later_azure_traces_have_a_zone_and_images() {
    let text = "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n\
                2024-05-10 00:00:00.009930+00:00,2,2162,5\n\
                2024-05-10 00:00:00+00:00,0,2399,6\n";
    let trace = read(text).unwrap();
    assert_eq!(trace.format(), Format::Azure);
    assert_eq!(offsets(&trace), [9_930_000, 0]);
    assert_eq!(trace.requests()[0].other("NumImages"), Some("2"));
}

#[test]
fn burstgpt_keeps_models_sessions_and_what_else_there_is() {
    let trace = Trace::read(&data("burstgpt.csv")[..]).unwrap();
    assert_eq!(trace.format(), Format::BurstGpt);
    assert_eq!(trace.start_ns(), 19_440_110_000_000_000);
    assert_eq!(
        offsets(&trace),
        [0, 51_000_000_000, 51_100_000_000, 82_000_000_000]
    );
    let first = &trace.requests()[0];
    assert_eq!(first.kind.as_deref(), Some("GPT-4"));
    assert_eq!(first.session.as_deref(), Some("c-1"));
    assert_eq!(
        (first.input_tokens, first.output_tokens),
        (Some(906), Some(446))
    );
    let other = ["Elapsed time", "Total tokens", "Log Type"].map(|name| first.other(name));
    assert_eq!(other, [Some("43"), Some("1352"), Some("Conversation log")]);
    assert_eq!(first.other("Model"), None);
    assert_eq!(trace.requests()[2].session, None);
    assert_eq!(trace.sessions(), [vec![0, 3], vec![1], vec![2]]);

    let answered = trace.clone().without_empty_output();
    assert_eq!((answered.len(), answered.left_out().empty_output), (3, 1));
    let gpt4 = trace.of_kind("GPT-4");
    assert_eq!((gpt4.len(), gpt4.left_out().other_kinds), (2, 2));
}

#[test]
fn mooncake_has_milliseconds_and_blocks_of_512_tokens() {
    let trace = Trace::read(&data("mooncake.jsonl")[..]).unwrap();
    assert_eq!(trace.format(), Format::Mooncake);
    assert_eq!(trace.format().block_tokens(), Some(512));
    assert_eq!(offsets(&trace), [0, 0, 3_053_000_000, 3_053_500_000]);
    assert_eq!(*trace.requests()[2].hash_ids, [46, 47, 49]);
    assert_eq!(trace.requests()[3].session.as_deref(), Some("s-9"));
    assert_eq!(trace.requests()[3].other("delay"), Some("250"));
    assert_eq!(
        trace.requests()[3].other("messages"),
        Some(r#"[{"role": "user"}]"#)
    );
    // Of the second prompt its first two blocks, of the third as many; 512 of 600 tokens of the last.
    let repeated = trace.describe().repeated_input.unwrap();
    assert_eq!(
        repeated,
        f64::from(1024 + 1024 + 512) / f64::from(1500 + 1400 + 1300 + 600)
    );
}

#[test]
fn bailian_has_seconds_turns_and_parents() {
    let trace = Trace::read(&data("bailian.jsonl")[..]).unwrap();
    assert_eq!(trace.format(), Format::Bailian);
    assert_eq!(trace.format().block_tokens(), Some(16));
    assert_eq!(offsets(&trace), [0, 10_000, 61_114_000_000, 70_000_000_000]);
    let second = &trace.requests()[2];
    assert_eq!(
        (second.id, second.parent, second.turn),
        (Some(159), Some(55), Some(2))
    );
    assert_eq!(second.kind.as_deref(), Some("text"));
    assert_eq!(trace.requests()[0].parent, None);
    // The parent of the last lies before the trace.
    assert_eq!(trace.sessions(), [vec![0, 2], vec![1], vec![3]]);
}

#[test]
fn a_plain_trace_needs_no_more_than_instants() {
    let trace = Trace::read(&data("plain.csv")[..]).unwrap();
    assert_eq!(trace.format(), Format::Plain);
    assert_eq!(offsets(&trace), [0, 500_000_001, 500_000_001]);
    let sizes: Vec<_> = trace
        .requests()
        .iter()
        .map(|request| request.size)
        .collect();
    assert_eq!(sizes, [Some(512), None, Some(4096)]);
    assert_eq!(
        trace.requests()[2].kind.as_deref(),
        Some("write, with a comma")
    );
    assert_eq!(trace.requests()[2].line, 6);
    let alone = read("seq,offset_ns,phase\n0,5,steady\n1,7,steady").unwrap();
    assert_eq!(offsets(&alone), [0, 2]);
    assert_eq!(alone.requests()[1].other("phase"), Some("steady"));
}

#[test]
fn a_file_may_end_lines_and_begin_as_it_likes() {
    let rows = ["offset,kind", "1.5,a", "2.5,\"b\""];
    let expected = read(&rows.join("\n")).unwrap();
    for (start, end) in [
        ("", "\n"),
        ("", "\r\n"),
        ("\u{feff}", "\r\n"),
        ("\n\n", "\n\n"),
    ] {
        for last in [end, ""] {
            let text = format!("{start}{}{last}", rows.join(end));
            let trace = read(&text).unwrap();
            assert_eq!(offsets(&trace), offsets(&expected), "{text:?}");
            assert_eq!(trace.requests()[1].kind, expected.requests()[1].kind);
        }
    }
}

#[test]
fn a_bad_line_is_told_by_its_number_and_what_was_expected() {
    for (text, message) in [
        ("", "the trace has no line"),
        ("\n \n", "the trace has no line"),
        ("a,b\n", "no trace format starts with \"a,b\""),
        ("offset\n1\nx\n", "line 3, offset: \"x\" is not a decimal"),
        ("offset\n1\n-2\n", "line 3, offset: \"-2\" is not a decimal"),
        (
            "offset\n1\n\n1e11\n",
            "line 4, offset: \"1e11\" is not a decimal",
        ),
        (
            "offset,size\n1,2\n1\n",
            "line 3 has 1 fields where the header has 2",
        ),
        (
            "offset,size\n1,2\n1,2,3\n",
            "line 3 has 3 fields where the header has 2",
        ),
        (
            "offset,size\n1,2.5\n",
            "line 2, size: \"2.5\" is not a whole number",
        ),
        (
            "offset,kind\n1,\"a\n2,b\"\n",
            "line 2 is not comma-separated fields: a quotation mark is not closed",
        ),
        (
            "offset,OFFSET\n",
            "line 1 is not a header that names each thing once",
        ),
        (
            "offset,offset_ns\n",
            "line 1 is not a header that names each thing once",
        ),
        (
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-02-30 00:00:00,1,1\n",
            "line 2, TIMESTAMP: \"2023-02-30 00:00:00\" is not a civil time",
        ),
        (
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-02-03 00:00:00,,1\n",
            "line 2, ContextTokens: \"\" is not a whole number",
        ),
        (
            "{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n{\"timestamp\":1}\n",
            "line 2 has no input_length, which every mooncake trace has",
        ),
        (
            "{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n{\"timestamp\":1,\n",
            "line 2 is not a JSON object",
        ),
        (
            "{\"timestamp\":0,\"input_length\":1,\"output_length\":null}\n",
            "line 1 has no output length",
        ),
        (
            "{\"timestamp\":0,\"input_length\":1,\"output_length\":1,\"hash_ids\":[1,-2]}\n",
            "line 1, hash_ids: \"[1,-2]\" is not a JSON array of whole numbers",
        ),
        (
            "{\"timestamp\":0,\"input_length\":1,\"output_length\":1,\"input_length\":2}\n",
            "line 1 is not a JSON object: it has two values for \"input_length\"",
        ),
        (
            "{\"chat_id\":-2,\"parent_chat_id\":-1,\"timestamp\":0,\"input_length\":1,\"output_length\":1}",
            "line 1, chat_id: \"-2\" is not a whole number from 0 on, or -1",
        ),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
}

#[test]
fn a_format_that_was_named_is_not_guessed() {
    let bailian = data("bailian.jsonl");
    let trace = Trace::read_as(Format::Mooncake, &bailian[..]).unwrap();
    // Milliseconds now, and what only Bailian knows is kept as text.
    assert_eq!(trace.requests()[2].offset_ns, 61_114_000);
    assert_eq!(trace.requests()[2].other("chat_id"), Some("159"));
    let error = Trace::read_as(Format::Azure, &data("burstgpt.csv")[..]).unwrap_err();
    assert!(matches!(
        error,
        TraceError::Missing {
            line: 1,
            column: "ContextTokens",
            ..
        }
    ));
}

#[test]
fn a_reader_that_fails_is_told_with_the_line() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("unplugged"))
        }
    }
    let reader = std::io::Read::chain(&b"offset\n1\n"[..], Broken);
    let reason = "unplugged".to_owned();
    assert_eq!(
        Trace::read(std::io::BufReader::new(reader)),
        Err(TraceError::Read { line: 3, reason })
    );
}
