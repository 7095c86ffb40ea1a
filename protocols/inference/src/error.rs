//! Why there is no whole answer.

use crate::answer::Parts;
use crate::{Course, TokenSource};
use http::StatusCode;
use openloop_http::{Stages, status};
use openloop_measurer::{Describe, Details, Verdict};

/// A call without a whole answer: why, and what had come until then.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
pub struct InferenceError {
    /// Why.
    pub kind: InferenceErrorKind,
    pub(crate) parts: Box<Parts>,
}

/// Why there is no whole answer. Each has its class, under which a report counts it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InferenceErrorKind {
    /// No head of an answer came; the class is that of [`HttpError`](openloop_http::HttpError), `connect_refused` and so
    /// on.
    #[error("{0}")]
    Http(String),
    /// Class `http_400` and so on, as in [`status::verdict`]: the server refused, or failed.
    #[error("the server answered {status}: {message}")]
    Status {
        /// The status code.
        status: StatusCode,
        /// What it said, or the beginning of it.
        message: String,
    },
    /// Class `cut_off`: the stream ended before the answer did.
    #[error("{0}")]
    CutOff(String),
    /// Class `empty_answer`: the answer has not one token.
    #[error("the answer has not one token")]
    Empty,
    /// Class `malformed_event`: what came is no piece of an answer.
    #[error("what came is no piece of an answer: {0}")]
    Malformed(String),
    /// Class `stream_error`: the server told of an error inside the stream.
    #[error("the server told of an error in the stream: {0}")]
    Stream(String),
    /// Class `aborted`: the server ended the answer with the reason `abort`.
    #[error("the server gave the answer up")]
    Aborted,
}

impl InferenceError {
    /// The class under which a report counts it.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self.verdict() {
            Verdict::Failed(class) | Verdict::Rejected(class) => class,
            Verdict::TimedOut | Verdict::Ok => "client",
        }
    }

    /// When its tokens came, of a stream that had begun.
    #[must_use]
    pub fn course(&self) -> Option<&Course> {
        self.parts.course.as_ref()
    }

    /// Tokens that had come, and where their number comes from.
    #[must_use]
    pub fn output_tokens(&self) -> Option<(u64, TokenSource)> {
        self.course()?.output_tokens()
    }

    /// Where the time of the HTTP call went.
    #[must_use]
    pub fn stages(&self) -> &Stages {
        self.parts.transport.stages()
    }
}

impl Describe for InferenceError {
    fn verdict(&self) -> Verdict {
        match &self.kind {
            InferenceErrorKind::Http(_) => self.parts.transport.verdict(),
            InferenceErrorKind::Status { status, .. } => match status::verdict(*status) {
                // A redirect is not followed, and is no answer.
                Verdict::Ok => Verdict::Failed(status::class(*status)),
                verdict => verdict,
            },
            InferenceErrorKind::CutOff(_) => Verdict::Failed("cut_off"),
            InferenceErrorKind::Empty => Verdict::Failed("empty_answer"),
            InferenceErrorKind::Malformed(_) => Verdict::Failed("malformed_event"),
            InferenceErrorKind::Stream(_) => Verdict::Failed("stream_error"),
            InferenceErrorKind::Aborted => Verdict::Failed("aborted"),
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        self.parts.details(into, false);
    }
}
