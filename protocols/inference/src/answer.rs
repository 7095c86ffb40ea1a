//! An answer, and what is told of it.

use crate::chunk::{Finish, ServerTimes};
use crate::usage::Usage;
use crate::{Course, Goodput, TokenSource};
use openloop_http::{HttpError, Reply, Stages};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_workload::prompts::Prompt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// An answer that came whole and has tokens.
///
/// Its details are the metrics of [`Course`], the stages of the HTTP call, and counts:
///
/// | count | of |
/// | --- | --- |
/// | `input_tokens`, `output_tokens`, `cached_tokens`, `reasoning_tokens` | tokens, as counted |
/// | `asked_input_tokens`, `asked_output_tokens` | tokens that were asked for, of the same answers |
/// | `tokens_from_usage`, `tokens_from_chunks`, `tokens_assumed` | answers, by where their output tokens come from |
/// | `itl_not_observable` | answers of whose chunks nobody says how many tokens each had |
/// | `finish_stop`, `finish_length`, … , `finish_unknown` | answers, by the reason why they ended |
/// | `chunks`, `chunks_coalesced` | chunks with tokens; those that came in one read with the one before |
/// | `good` | answers that keep the bounds of [`Goodput`] |
/// | `not_streamed` | answers that came whole though a stream was asked for |
/// | `cut_off_tokens` | tokens of answers that failed on the way |
///
/// and what the server says of its own times, `server_prefill` and `server_decode`.
#[derive(Debug)]
pub struct Answer(pub(crate) Box<Parts>);

/// What there is of an answer, whole or not.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) course: Option<Course>,
    /// When its last byte came, where it was not streamed.
    pub(crate) whole_at: Option<Instant>,
    pub(crate) sent: Option<Instant>,
    pub(crate) asks_stream: bool,
    pub(crate) usage: Usage,
    pub(crate) finish: Option<Finish>,
    pub(crate) server: ServerTimes,
    pub(crate) text: Option<String>,
    pub(crate) prompt: Option<Arc<Prompt>>,
    pub(crate) goodput: Arc<Goodput>,
    pub(crate) transport: Transport,
}

/// How the HTTP call ended.
#[derive(Debug)]
pub(crate) enum Transport {
    Reply(Reply),
    Error(HttpError),
}

impl Transport {
    pub(crate) fn verdict(&self) -> Verdict {
        match self {
            Transport::Reply(reply) => reply.verdict(),
            Transport::Error(error) => error.verdict(),
        }
    }

    pub(crate) fn stages(&self) -> &Stages {
        match self {
            Transport::Reply(reply) => reply.stages(),
            Transport::Error(error) => error.stages(),
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        match self {
            Transport::Reply(reply) => reply.details(into),
            Transport::Error(error) => error.details(into),
        }
    }
}

impl Answer {
    /// When its tokens came; `None` where it was not streamed.
    #[must_use]
    pub fn course(&self) -> Option<&Course> {
        self.0.course.as_ref()
    }

    /// From the hand-over of the request to its connection until the first token: what other tools call TTFT. From the
    /// intended instant it is in the report, as `ttft`.
    #[must_use]
    pub fn ttft_sent(&self) -> Option<Duration> {
        let course = self.course()?;
        Some(
            course
                .first_token()?
                .saturating_duration_since(course.sent()),
        )
    }

    /// What the server says that it counted.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.0.usage
    }

    /// Tokens of the answer, and where their number comes from.
    #[must_use]
    pub fn output_tokens(&self) -> Option<(u64, TokenSource)> {
        self.0.output_tokens()
    }

    /// Why it ended; `None` where the server did not say.
    #[must_use]
    pub fn finish(&self) -> Option<Finish> {
        self.0.finish
    }

    /// What the server says of its own times.
    #[must_use]
    pub fn server_times(&self) -> ServerTimes {
        self.0.server
    }

    /// Its text, where it is [kept](crate::Builder::keep_text).
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.0.text.as_deref()
    }

    /// Where the time of the HTTP call went.
    #[must_use]
    pub fn stages(&self) -> &Stages {
        self.0.transport.stages()
    }
}

impl Parts {
    pub(crate) fn output_tokens(&self) -> Option<(u64, TokenSource)> {
        match &self.course {
            Some(course) => course.output_tokens(),
            None => Some((self.usage.output_tokens?, TokenSource::Usage)),
        }
    }

    pub(crate) fn details(&self, into: &mut Details<'_>, is_answer: bool) {
        self.transport.details(into);
        match &self.course {
            Some(course) => course.details(into),
            None if is_answer => self.whole(into),
            None => {}
        }
        into.durations([
            ("server_prefill", self.server.prefill),
            ("server_decode", self.server.decode),
        ]);
        if !is_answer {
            let tokens = self.course.as_ref().and_then(Course::output_tokens);
            into.counts([("cut_off_tokens", tokens.map_or(0, |(n, _)| n))]);
            return;
        }
        if let Some((tokens, source)) = self.output_tokens() {
            into.counts([("output_tokens", tokens), (source.name(), 1)]);
        }
        let usage = self.usage;
        into.counts([
            ("input_tokens", usage.input_tokens.unwrap_or(0)),
            ("cached_tokens", usage.cached_tokens.unwrap_or(0)),
            ("reasoning_tokens", usage.reasoning_tokens.unwrap_or(0)),
            (self.finish.map_or("finish_unknown", Finish::name), 1),
            (
                "not_streamed",
                u64::from(self.asks_stream && self.course.is_none()),
            ),
        ]);
        if let Some(prompt) = &self.prompt {
            into.counts([
                ("asked_input_tokens", prompt.input_tokens()),
                ("asked_output_tokens", u64::from(prompt.output_tokens)),
            ]);
        }
        if !self.goodput.is_empty() {
            let intended = into.intended();
            // Without a stream there is no first token, and nothing that is bounded can be seen.
            let good = self
                .course
                .as_ref()
                .is_some_and(|course| self.goodput.is_good(course, intended));
            // 0 as well: that an answer was looked at is to be seen.
            into.count("good", u64::from(good));
        }
    }

    /// What is known of an answer that came whole.
    fn whole(&self, into: &mut Details<'_>) {
        let (Some(at), Some(sent)) = (self.whole_at, self.sent) else {
            return;
        };
        into.answer_since_intended("e2e", at);
        let took = at.saturating_duration_since(sent);
        into.of_answer("e2e_sent", took);
        if let Some(tokens) = self.usage.output_tokens.filter(|tokens| *tokens > 0) {
            let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
            into.of_answer("ntpot", took / tokens);
        }
    }
}

impl Describe for Answer {
    fn verdict(&self) -> Verdict {
        Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        self.0.details(into, true);
    }
}
