//! How a stream is written, and what is wrong with it.

use crate::On;

/// When the chunk with the role comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoleChunk {
    /// Never.
    None,
    /// As soon as the request is there, long before the first token: as dasllama does.
    AtOnce,
    /// In the same write as the first token: as llama-server does.
    #[default]
    WithFirstToken,
}

/// Where `usage` stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageIn {
    /// Nowhere.
    Nowhere,
    /// In the chunk with the finish reason.
    LastChunk,
    /// In the last chunk with a token, which has the finish reason as well.
    LastToken,
    /// In a chunk without choices behind it, if the request asks for it: as OpenAI says.
    #[default]
    OwnChunk,
    /// In every chunk, counting up, and in one of its own at the end: vLLM's `continuous_usage_stats`.
    EveryChunk,
}

/// What ends the lines of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineEnd {
    /// LF.
    #[default]
    Lf,
    /// CR.
    Cr,
    /// CRLF.
    CrLf,
}

impl LineEnd {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Cr => "\r",
            Self::CrLf => "\r\n",
        }
    }
}

/// What is wrong with a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamFault {
    /// The connection closes after so many tokens.
    CutOff(u32),
    /// The stream ends after so many tokens as if it were whole, without a finish reason and without `[DONE]`.
    EndEarly(u32),
    /// After so many tokens comes an event that is no JSON; the stream goes on.
    Garbage(u32),
    /// After so many tokens comes an event with an error, and the stream ends.
    Error(u32),
    /// After so many tokens nothing comes any more, and the connection stays open.
    Hang(u32),
    /// The server ends the answer with the reason `abort` after so many tokens.
    Abort(u32),
    /// A role, a finish reason, and no token.
    RoleOnly,
    /// Chunks with empty texts, a finish reason, and no token.
    Empty,
    /// No stream: this status, with an error as JSON.
    Status(u16),
}

impl StreamFault {
    /// After how many tokens it shows.
    pub(super) fn after(&self) -> Option<u32> {
        match self {
            Self::CutOff(after)
            | Self::EndEarly(after)
            | Self::Garbage(after)
            | Self::Error(after)
            | Self::Hang(after)
            | Self::Abort(after) => Some(*after),
            Self::RoleOnly | Self::Empty => Some(0),
            Self::Status(_) => None,
        }
    }
}

/// How streams are written.
#[derive(Debug, Clone)]
pub(super) struct Style {
    pub(super) role: RoleChunk,
    pub(super) usage: UsageIn,
    pub(super) tokens_per_chunk: u32,
    /// Tokens of reasoning before the answer.
    pub(super) reasoning: u32,
    pub(super) line_end: LineEnd,
    pub(super) space: bool,
    pub(super) done: bool,
    /// The connection closes behind a stream that promised to keep it.
    pub(super) closes: bool,
    /// Answers end by themselves after so many tokens, unless they may not.
    pub(super) stops_after: Option<u32>,
    pub(super) faults: Vec<(On, StreamFault)>,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            role: RoleChunk::default(),
            usage: UsageIn::default(),
            tokens_per_chunk: 1,
            reasoning: 0,
            line_end: LineEnd::default(),
            space: true,
            done: true,
            closes: false,
            stops_after: None,
            faults: Vec::new(),
        }
    }
}
