//! What one piece of an answer says: a `data:` of a stream, or the whole body where nothing is streamed.

use crate::usage::Usage;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::time::Duration;

/// What a piece of an answer has for its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Nothing: a role, an empty text, a finish reason, usage.
    #[default]
    Nothing,
    /// Tokens of reasoning alone, which come before the answer.
    Reasoning,
    /// Tokens of the answer: text, a refusal, or a call of a tool.
    Visible,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Finish {
    /// The model stopped by itself, or at a stop sequence.
    Stop,
    /// It had as many tokens as it was allowed.
    Length,
    /// It calls a tool.
    ToolCalls,
    /// A filter cut it off.
    ContentFilter,
    /// The server gave it up.
    Abort,
    /// Any other.
    Other,
}

impl Finish {
    fn of(reason: &str) -> Self {
        match reason {
            "stop" | "eos_token" | "eos" | "stop_sequence" => Finish::Stop,
            "length" | "max_tokens" => Finish::Length,
            "tool_calls" | "function_call" => Finish::ToolCalls,
            "content_filter" => Finish::ContentFilter,
            "abort" | "error" => Finish::Abort,
            _ => Finish::Other,
        }
    }

    /// The name of its count in a report: `finish_stop` and so on.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Finish::Stop => "finish_stop",
            Finish::Length => "finish_length",
            Finish::ToolCalls => "finish_tool_calls",
            Finish::ContentFilter => "finish_content_filter",
            Finish::Abort => "finish_abort",
            Finish::Other => "finish_other",
        }
    }
}

/// What the server says of its own times, where it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerTimes {
    /// Until its first token, the wait in its queue left out: llama-server's `timings.prompt_ms`, dasllama's `ttft_ms`.
    pub prefill: Option<Duration>,
    /// For the tokens: `timings.predicted_ms`, `gen_ms`.
    pub decode: Option<Duration>,
}

/// What a piece of an answer says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) content: Content,
    pub(crate) reasoning: bool,
    /// Tokens in this piece, where it tells: by their ids, or their probabilities.
    pub(crate) tokens: Option<u32>,
    /// Tokens up to this piece, where it tells.
    pub(crate) tokens_so_far: Option<u64>,
    pub(crate) text: String,
    pub(crate) finish: Option<Finish>,
    pub(crate) usage: Option<Usage>,
    pub(crate) server: ServerTimes,
    /// Instead of all else.
    pub(crate) error: Option<String>,
}

impl Chunk {
    /// # Errors
    /// Where it is no JSON object.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, serde_json::Error> {
        let raw: Raw = match serde_json::from_slice(json) {
            // Bytes that are no text inside a string: what stands beside them still counts.
            Err(error) if error.is_syntax() && std::str::from_utf8(json).is_err() => {
                serde_json::from_str(&String::from_utf8_lossy(json))?
            }
            read => read?,
        };
        Ok(raw.into())
    }
}

#[derive(Deserialize)]
struct Raw {
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    timings: Option<Timings>,
    error: Option<ErrorText>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Message>,
    message: Option<Message>,
    #[serde(default)]
    text: Said,
    finish_reason: Option<String>,
    logprobs: Option<Logprobs>,
    token_ids: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Said,
    #[serde(default)]
    reasoning_content: Said,
    #[serde(default)]
    reasoning: Said,
    #[serde(default)]
    refusal: Said,
    #[serde(default)]
    tool_calls: Said,
    #[serde(default)]
    function_call: Said,
}

#[derive(Deserialize)]
struct Logprobs {
    /// Of chats.
    content: Option<Vec<IgnoredAny>>,
    /// Of text completions.
    tokens: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
struct Timings {
    prompt_ms: Option<f64>,
    ttft_ms: Option<f64>,
    predicted_ms: Option<f64>,
    gen_ms: Option<f64>,
    predicted_n: Option<u64>,
    cache_n: Option<u64>,
}

impl From<Raw> for Chunk {
    fn from(raw: Raw) -> Self {
        let mut chunk = Chunk {
            usage: raw.usage,
            error: raw.error.map(|error| error.0),
            ..Chunk::default()
        };
        if let Some(timings) = &raw.timings {
            let ms = |ms: f64| Duration::try_from_secs_f64(ms / 1e3).ok();
            chunk.server = ServerTimes {
                prefill: timings.prompt_ms.or(timings.ttft_ms).and_then(ms),
                decode: timings.predicted_ms.or(timings.gen_ms).and_then(ms),
            };
            chunk.tokens_so_far = timings.predicted_n;
        }
        if let Some(usage) = &mut chunk.usage {
            let known = raw.timings.and_then(|timings| timings.cache_n);
            usage.cached_tokens = usage.cached_tokens.or(known);
            chunk.tokens_so_far = usage.output_tokens.or(chunk.tokens_so_far);
        }
        for choice in raw.choices.into_iter().flatten() {
            chunk.add(choice);
        }
        chunk
    }
}

impl Chunk {
    fn add(&mut self, choice: Choice) {
        let (mut visible, mut thinks) = (choice.text, Said::Nothing);
        if let Some(message) = choice.delta.or(choice.message) {
            for said in [
                message.content,
                message.refusal,
                message.tool_calls,
                message.function_call,
            ] {
                visible = visible.or(said);
            }
            thinks = message.reasoning_content.or(message.reasoning);
        }
        self.reasoning |= thinks.is_something();
        self.content = match (visible.is_something(), self.reasoning) {
            (true, _) => Content::Visible,
            (false, true) => Content::Reasoning,
            (false, false) => self.content,
        };
        if let Said::Text(text) = visible {
            self.text.push_str(&text);
        }
        let by_logprobs = choice
            .logprobs
            .and_then(|logprobs| logprobs.content.or(logprobs.tokens));
        let listed = choice.token_ids.or(by_logprobs).map(|listed| listed.len());
        // None of both is said by an empty list where there is a text.
        self.tokens = listed
            .and_then(|listed| u32::try_from(listed).ok())
            .filter(|listed| *listed > 0)
            .or(self.tokens);
        self.finish = choice
            .finish_reason
            .map(|reason| Finish::of(&reason))
            .or(self.finish);
    }
}

/// What stands in a field for text: nothing, a text, or some structure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Said {
    #[default]
    Nothing,
    Text(String),
    Structure,
}

impl Said {
    fn is_something(&self) -> bool {
        *self != Said::Nothing
    }

    fn or(self, other: Said) -> Said {
        match self {
            Said::Nothing => other,
            said => said,
        }
    }
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SaidVisitor)
    }
}

struct SaidVisitor;

impl<'de> Visitor<'de> for SaidVisitor {
    type Value = Said;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, null, or parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Said, E> {
        Ok(match text {
            "" => Said::Nothing,
            text => Said::Text(text.to_owned()),
        })
    }

    fn visit_unit<E>(self) -> Result<Said, E> {
        Ok(Said::Nothing)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Said, E> {
        Ok(Said::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Said, A::Error> {
        let mut said = Said::Nothing;
        while parts.next_element::<IgnoredAny>()?.is_some() {
            said = Said::Structure;
        }
        Ok(said)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Said, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Said::Structure)
    }
}

/// What an `error` says, whatever its form.
struct ErrorText(String);

impl<'de> Deserialize<'de> for ErrorText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let text = match (&value, value.get("message")) {
            (_, Some(serde_json::Value::String(text))) | (serde_json::Value::String(text), _) => {
                text.clone()
            }
            _ => value.to_string(),
        };
        Ok(ErrorText(text))
    }
}

#[cfg(test)]
mod tests;
