//! The bytes of a stream.

use super::ask::{Ask, WORD};
use super::style::Style;

/// What stands in `usage`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) prompt: u32,
    pub(super) cached: u32,
    pub(super) answer: u32,
    pub(super) reasoning: u32,
}

impl Counts {
    fn json(self) -> String {
        let Self {
            prompt,
            cached,
            answer,
            reasoning,
        } = self;
        let total = u64::from(prompt) + u64::from(answer);
        format!(
            r#"{{"prompt_tokens":{prompt},"completion_tokens":{answer},"total_tokens":{total},"prompt_tokens_details":{{"cached_tokens":{cached}}},"completion_tokens_details":{{"reasoning_tokens":{reasoning}}}}}"#
        )
    }
}

/// What a chunk says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Role,
    /// So many words, from this number on.
    Words {
        count: u32,
        reasoning: bool,
    },
    EmptyText,
    Nothing,
}

pub(super) const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
pub(super) const END: &[u8] = b"0\r\n\r\n";

/// Writes the events of one stream.
#[derive(Debug)]
pub(super) struct Frames<'a> {
    pub(super) style: &'a Style,
    pub(super) ask: &'a Ask,
    pub(super) id: u64,
}

impl Frames<'_> {
    /// A chunk of an answer, with a finish reason or usage where there are any.
    pub(super) fn chunk(
        &self,
        says: Says,
        finish: Option<&str>,
        usage: Option<Counts>,
        into: &mut Vec<u8>,
    ) {
        let finish = finish.map_or("null".to_owned(), |reason| format!("\"{reason}\""));
        let words = |count| format!(" {WORD}").repeat(count as usize);
        let said = match (self.ask.chat, says) {
            (true, Says::Role) => r#""delta":{"role":"assistant","content":null}"#.to_owned(),
            (true, Says::Words { count, reasoning }) => {
                let field = if reasoning {
                    "reasoning_content"
                } else {
                    "content"
                };
                format!(r#""delta":{{"{field}":"{}"}}"#, words(count))
            }
            (true, Says::EmptyText) => r#""delta":{"content":""}"#.to_owned(),
            (true, Says::Nothing) => r#""delta":{}"#.to_owned(),
            (false, Says::Words { count, .. }) => format!(r#""text":"{}""#, words(count)),
            (false, _) => r#""text":"""#.to_owned(),
        };
        let choices = format!(r#"[{{"index":0,{said},"finish_reason":{finish}}}]"#);
        self.object(&choices, usage, into);
    }

    /// The chunk that has usage and nothing else.
    pub(super) fn usage(&self, counts: Counts, into: &mut Vec<u8>) {
        self.object("[]", Some(counts), into);
    }

    fn object(&self, choices: &str, usage: Option<Counts>, into: &mut Vec<u8>) {
        let (object, id) = match self.ask.chat {
            true => ("chat.completion.chunk", "chatcmpl"),
            false => ("text_completion", "cmpl"),
        };
        let usage = usage.map_or(String::new(), |counts| {
            format!(r#","usage":{}"#, counts.json())
        });
        let number = self.id;
        self.event(
            &format!(
                r#"{{"id":"{id}-{number}","object":"{object}","created":0,"model":"testbed","choices":{choices}{usage}}}"#
            ),
            into,
        );
    }

    /// An event with these data, as one chunk of HTTP.
    pub(super) fn event(&self, data: &str, into: &mut Vec<u8>) {
        let end = self.style.line_end.text();
        let space = if self.style.space { " " } else { "" };
        let event = format!("data:{space}{data}{end}{end}");
        into.extend_from_slice(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
    }

    /// A whole answer, where nothing is streamed.
    pub(super) fn whole(&self, counts: Counts, finish: &str) -> Vec<u8> {
        let text = format!(" {WORD}").repeat(counts.answer as usize);
        let said = match self.ask.chat {
            true => format!(r#""message":{{"role":"assistant","content":"{text}"}}"#),
            false => format!(r#""text":"{text}""#),
        };
        let usage = counts.json();
        json(
            200,
            &format!(
                r#"{{"id":"cmpl-{}","object":"completion","created":0,"model":"testbed","choices":[{{"index":0,{said},"finish_reason":"{finish}"}}],"usage":{usage}}}"#,
                self.id
            ),
        )
    }
}

/// An answer with a body of JSON.
pub(super) fn json(status: u16, body: &str) -> Vec<u8> {
    with_body(status, "application/json", body)
}

/// An error, as servers tell it.
pub(super) fn error(status: u16, message: &str) -> Vec<u8> {
    let message = serde_json::Value::from(message);
    json(
        status,
        &format!(
            r#"{{"error":{{"code":{status},"message":{message},"type":"invalid_request_error"}}}}"#
        ),
    )
}

pub(super) fn with_body(status: u16, content_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} testbed\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
