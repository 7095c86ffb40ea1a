//! One prompt: what it is made of, and its text or token ids.

use super::Vocabulary;
use super::words::{token_ids, words};

/// Who speaks in a part of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The operator of the service: system prompts and shared prefixes.
    System,
    /// The user.
    User,
    /// The model, in an earlier turn.
    Assistant,
}

impl Role {
    /// As in chat requests: `system`, `user` or `assistant`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// A part of a prompt: the first `tokens` words or ids of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// Who speaks.
    pub role: Role,
    /// Which content: equal numbers begin with equal words.
    pub content: u64,
    /// How many tokens of it.
    pub tokens: u32,
}

/// A message of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
}

/// What a request asks a language model: its parts, of which text or token ids are made when they are sent.
///
/// # Tokens asked for and tokens that arrive
/// Token ids have the length asked for, to the token. Text has as many words as tokens are asked for; each word with
/// the space ahead of it is one token in the common vocabularies (those of GPT-2 to GPT-4o, Llama 2 and 3, Mistral,
/// Qwen 2.5 and Gemma 2 were tried: 4096 words were 4096 tokens in each; the first word, which has no space, can be
/// two). A chat template adds tokens of its own, from 3 to 30 a message. Only the server's tokenizer knows what it
/// counted: tell its usage to [`Achieved`](super::Achieved).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The parts, in order.
    pub segments: Vec<Segment>,
    /// How many tokens the answer should have: the request's `max_tokens`, with `ignore_eos` where the server has it.
    pub output_tokens: u32,
    /// How many tokens at the start other requests have as well, so that a cache may know them.
    pub shared_tokens: u32,
}

impl Prompt {
    /// How many tokens the prompt should have.
    #[must_use]
    pub fn input_tokens(&self) -> u64 {
        (self.segments.iter())
            .map(|segment| u64::from(segment.tokens))
            .sum()
    }

    /// The prompt as one text.
    #[must_use]
    pub fn text(&self) -> String {
        text(&self.segments)
    }

    /// The prompt as the messages of a chat: neighbours of one role are one message.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        self.segments
            .chunk_by(|one, next| one.role == next.role)
            .map(|segments| Message {
                role: segments[0].role,
                text: text(segments),
            })
            .collect()
    }

    /// The prompt as token ids, for servers that take them: exactly [`input_tokens`](Prompt::input_tokens) of them.
    #[must_use]
    pub fn token_ids(&self, vocabulary: Vocabulary) -> Vec<u32> {
        let mut ids = Vec::new();
        for segment in &self.segments {
            let (first, count) = (vocabulary.first(), vocabulary.count());
            token_ids(segment.content, segment.tokens, first, count, &mut ids);
        }
        ids
    }
}

fn text(segments: &[Segment]) -> String {
    let mut text = String::new();
    for segment in segments {
        words(segment.content, segment.tokens, &mut text);
    }
    // Without the space ahead of the first word.
    if !text.is_empty() {
        text.remove(0);
    }
    text
}
