//! What is in one chunk of a stream.

use super::*;

fn chunk(json: &str) -> Chunk {
    Chunk::parse(json.as_bytes()).unwrap()
}

fn delta(fields: &str) -> Chunk {
    chunk(&format!(
        r#"{{"choices":[{{"index":0,"delta":{{{fields}}},"finish_reason":null}}],"usage":null}}"#
    ))
}

#[test]
fn roles_and_empty_texts_are_no_tokens_and_all_else_is() {
    for nothing in [
        r#""role":"assistant","content":null"#,
        r#""role":"assistant""#,
        r#""content":"""#,
        r#""content":"","reasoning_content":null,"tool_calls":[]"#,
        "",
    ] {
        assert_eq!(delta(nothing).content, Content::Nothing, "{nothing}");
    }
    for visible in [
        r#""content":" ""#,
        r#""role":"assistant","content":"I""#,
        r#""refusal":"no""#,
        r#""tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]"#,
        r#""function_call":{"name":"f"}"#,
        r#""content":[{"type":"text","text":"a"}]"#,
        r#""content":"a","reasoning":"b""#,
    ] {
        assert_eq!(delta(visible).content, Content::Visible, "{visible}");
    }
    for thinks in [
        r#""reasoning_content":"hm""#,
        r#""reasoning":"hm","content":"""#,
    ] {
        assert_eq!(delta(thinks).content, Content::Reasoning, "{thinks}");
    }
    assert_eq!(chunk(r#"{"choices":[]}"#).content, Content::Nothing);
    assert_eq!(
        chunk(r#"{"choices":[{"text":"a"}]}"#).content,
        Content::Visible
    );
}

#[test]
fn tokens_are_counted_by_whatever_tells_them() {
    let with = |field: &str| {
        chunk(&format!(
            r#"{{"choices":[{{"text":"abc",{field},"finish_reason":"length"}}]}}"#
        ))
    };
    assert_eq!(with(r#""token_ids":[1,2,3]"#).tokens, Some(3));
    assert_eq!(
        with(r#""logprobs":{"tokens":["a","b"],"token_logprobs":[0,0]}"#).tokens,
        Some(2)
    );
    assert_eq!(
        with(r#""logprobs":{"content":[{"token":"abc"}]}"#).tokens,
        Some(1)
    );
    assert_eq!(with(r#""logprobs":null"#).tokens, None);
    assert_eq!(with(r#""logprobs":null"#).finish, Some(Finish::Length));
    let so_far = chunk(r#"{"choices":[{"text":"a"}],"usage":{"completion_tokens":7}}"#);
    assert_eq!(so_far.tokens_so_far, Some(7));
    let so_far = chunk(r#"{"choices":[{"text":"a"}],"timings":{"predicted_n":3}}"#);
    assert_eq!(so_far.tokens_so_far, Some(3));
}

#[test]
fn errors_inside_a_stream_are_read_in_every_form() {
    for (json, text) in [
        (
            r#"{"error":{"message":"out of memory","code":500}}"#,
            "out of memory",
        ),
        (r#"{"error":"gone"}"#, "gone"),
        (r#"{"error":{"code":1}}"#, r#"{"code":1}"#),
    ] {
        assert_eq!(chunk(json).error.as_deref(), Some(text));
    }
    assert_eq!(chunk(r#"{"error":null,"choices":[]}"#).error, None);
}

#[test]
fn what_is_no_object_is_refused_and_text_that_is_none_is_not() {
    for bad in ["", "{", "[DONE]", "null", "7", r#"{"choices":7}"#] {
        assert!(Chunk::parse(bad.as_bytes()).is_err(), "{bad}");
    }
    let broken = b"{\"choices\":[{\"text\":\"a\xffb\"}]}";
    assert_eq!(Chunk::parse(broken).unwrap().text, "a\u{fffd}b");
}
