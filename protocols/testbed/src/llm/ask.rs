//! What a request asks for.

use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What is answered where a request does not say how much.
const DEFAULT_TOKENS: u32 = 16;

/// A request, as far as it matters for how long its answer takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ask {
    pub(super) chat: bool,
    pub(super) stream: bool,
    pub(super) include_usage: bool,
    pub(super) max_tokens: u32,
    pub(super) ignore_eos: bool,
    pub(super) prompt_tokens: u32,
    /// Of each whole block of the prompt and of the answer that will be given, with all before it: who goes on from the
    /// answer finds both.
    pub(super) block_hashes: Vec<u64>,
}

/// The word that every answer has, and how many of them are remembered.
pub(super) const WORD: &str = "tok";
const MOST_REMEMBERED: u32 = 1 << 16;

impl Ask {
    /// A body of `/v1/chat/completions`, where `chat`, or `/v1/completions`. A word is a token, and so is a token id.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(body: &[u8], chat: bool, block_tokens: u32) -> Result<Self, String> {
        let body: Value =
            serde_json::from_slice(body).map_err(|error| format!("invalid JSON: {error}"))?;
        let mut prompt = Prompt::new(block_tokens);
        match (chat, body.get("messages"), body.get("prompt")) {
            (true, Some(Value::Array(messages)), _) => {
                for message in messages {
                    let content = message.get("content").and_then(Value::as_str);
                    prompt.text(content.unwrap_or_default());
                }
            }
            (true, ..) => return Err("'messages' is required".to_owned()),
            (false, _, Some(Value::String(text))) => prompt.text(text),
            (false, _, Some(Value::Array(ids))) => {
                for id in ids {
                    prompt.token(&id.as_u64().ok_or("'prompt' is to be text or token ids")?);
                }
            }
            (false, ..) => return Err("'prompt' is required".to_owned()),
        }
        let limit = body
            .get("max_tokens")
            .or_else(|| body.get("max_completion_tokens"));
        let max_tokens = match limit {
            None | Some(Value::Null) => DEFAULT_TOKENS,
            Some(limit) => limit
                .as_u64()
                .and_then(|limit| u32::try_from(limit).ok())
                .filter(|limit| *limit > 0)
                .ok_or_else(|| {
                    format!("'max_tokens' is {limit}: it is to be a whole number from 1")
                })?,
        };
        let flag = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
        if prompt.tokens == 0 {
            return Err("the prompt is empty".to_owned());
        }
        let prompt_tokens = prompt.tokens;
        for _ in 0..max_tokens.min(MOST_REMEMBERED) {
            prompt.token(WORD);
        }
        Ok(Self {
            chat,
            stream: flag(body.get("stream")),
            include_usage: flag(body.pointer("/stream_options/include_usage")),
            max_tokens,
            ignore_eos: flag(body.get("ignore_eos")),
            prompt_tokens,
            block_hashes: prompt.hashes,
        })
    }
}

/// A prompt, token by token.
struct Prompt {
    block_tokens: u32,
    tokens: u32,
    so_far: DefaultHasher,
    hashes: Vec<u64>,
}

impl Prompt {
    fn new(block_tokens: u32) -> Self {
        Self {
            block_tokens: block_tokens.max(1),
            tokens: 0,
            so_far: DefaultHasher::new(),
            hashes: Vec::new(),
        }
    }

    fn text(&mut self, text: &str) {
        text.split_whitespace().for_each(|word| self.token(word));
    }

    fn token(&mut self, token: &(impl Hash + ?Sized)) {
        token.hash(&mut self.so_far);
        self.tokens += 1;
        if self.tokens.is_multiple_of(self.block_tokens) {
            self.hashes.push(self.so_far.finish());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(json: &str, chat: bool) -> Result<Ask, String> {
        Ask::parse(json.as_bytes(), chat, 2)
    }

    #[test]
    fn words_and_ids_are_tokens_and_whole_blocks_have_a_hash() {
        let text = ask(
            r#"{"prompt":"a b c d e","max_tokens":3,"ignore_eos":true}"#,
            false,
        )
        .unwrap();
        // Five of the prompt and three of the answer.
        assert_eq!((text.prompt_tokens, text.block_hashes.len()), (5, 4));
        assert_eq!(
            (text.max_tokens, text.ignore_eos, text.stream),
            (3, true, false)
        );
        let other = ask(r#"{"prompt":"a b x d"}"#, false).unwrap();
        assert_eq!(text.block_hashes[0], other.block_hashes[0]);
        assert_ne!(text.block_hashes[1], other.block_hashes[1]);
        let ids = ask(r#"{"prompt":[7,8,9],"max_tokens":2}"#, false).unwrap();
        assert_eq!((ids.prompt_tokens, ids.block_hashes.len()), (3, 2));
        let chat = r#"{"messages":[{"role":"system","content":"a b"},{"role":"user","content":"c d e"}],
            "max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}"#;
        let chat = ask(chat, true).unwrap();
        assert_eq!(chat.block_hashes, text.block_hashes);
        assert!(chat.stream && chat.include_usage);
        // Who sends the answer back is known to its end.
        let next = r#"{"messages":[{"role":"user","content":"a b c d e"},
            {"role":"assistant","content":" tok tok tok"},{"role":"user","content":"more of it"}],"max_tokens":1}"#;
        let next = ask(next, true).unwrap();
        assert_eq!(next.block_hashes[..4], text.block_hashes);
    }

    #[test]
    fn what_asks_for_nothing_is_refused() {
        for (json, chat) in [
            ("{", true),
            ("{}", true),
            ("{}", false),
            (r#"{"prompt":7}"#, false),
            (r#"{"prompt":["a"]}"#, false),
            (r#"{"prompt":""}"#, false),
            (r#"{"prompt":"a","max_tokens":"abc"}"#, false),
            (r#"{"prompt":"a","max_tokens":0}"#, false),
        ] {
            assert!(ask(json, chat).is_err(), "{json}");
        }
    }
}
