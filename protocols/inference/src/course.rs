//! When the tokens of an answer came.

use crate::TokenSource;
use crate::chunk::Content;
use openloop_measurer::{Describe, Details, Verdict};
use std::time::Duration;
use tokio::time::Instant;

/// When the tokens of one answer came, and what follows from it.
///
/// # Definitions
/// Instants are those of the kernel's receive stamps where there are any, else of the read of the socket.
///
/// | name | formula | what it is |
/// | --- | --- | --- |
/// | `ttft` | t₁ − intended | until the first token, reasoning or visible, from when the request should have started |
/// | `ttft_sent` | t₁ − sent | the same from the hand-over to an open connection: what other tools call TTFT |
/// | `ttft_visible` | t_v − intended | until the first token that a user sees, where reasoning came first |
/// | `first_event` | t₀ − intended | until an event without a token (a role), where one came ahead of the first token |
/// | `tpot` | (t_last − t₁)/(n − n₁) | the mean time per token after the first chunk |
/// | `itl_chunk` | t_c − t_(c−1) | each gap between chunks with tokens, as they came |
/// | `itl` | (t_c − t_(c−1))/k_c, k_c times | the same shared out over the tokens of the later chunk |
/// | `e2e` | t_last − intended | until the last token |
/// | `e2e_sent` | t_last − sent | the same from the hand-over |
/// | `ntpot` | (t_last − sent)/n | the whole answer per token: what guidellm calls TPOT |
///
/// Of these, `ttft`, `ttft_sent`, `tpot`, `ntpot`, `e2e` and `e2e_sent` belong to whole answers: an arrival that was not
/// served ranks above all that were, with its age for a lower bound, so that a p99 is never one of the survivors. What had
/// come of an answer that broke off is in its tokens and its gaps.
///
/// | symbol | meaning |
/// | --- | --- |
/// | t₁, t_last | the first and the last chunk with tokens: content, reasoning or a call of a tool; a role, an empty text, a finish reason and usage are none |
/// | n | tokens that had come by t_last: those counted, without an end-of-sequence token that is counted and not sent |
/// | n₁ | tokens of the first chunk where they are known, else 1 |
/// | k_c | tokens of chunk c |
///
/// # Tokens of a chunk
/// A chunk is not a token: speculative decoding sends several at once, and characters of several tokens come with the
/// last of them. How many there are is known where the server tells it with each chunk (continuous usage, token ids,
/// probabilities). Where it does not, each chunk is taken for one token as long as that agrees with the number that was
/// counted in the end; where it does not agree, there is no `itl` of that answer, and it is counted under
/// `itl_not_observable`.
///
/// ```
/// use openloop_inference::{Content, Course, TokenSource};
/// use std::time::Duration;
/// use tokio::time::Instant;
///
/// let sent = Instant::now();
/// let ms = |ms| sent + Duration::from_millis(ms);
/// let mut course = Course::new(sent);
/// course.event(ms(1)); // a role
/// course.tokens(ms(50), Content::Visible, Some(1));
/// course.tokens(ms(62), Content::Visible, Some(3));
/// course.tokens(ms(70), Content::Visible, Some(1));
/// course.finish(Some(5), false);
/// assert_eq!(course.output_tokens(), Some((5, TokenSource::Usage)));
/// assert_eq!(course.time_per_output_token(), Some(Duration::from_millis(5)));
/// let itl: Vec<_> = course.token_gaps().into_iter().flatten().map(|(gap, times)| (gap.as_millis(), times)).collect();
/// assert_eq!(itl, [(4, 3), (8, 1)]);
/// ```
#[derive(Clone, Debug)]
pub struct Course {
    sent: Instant,
    first_event: Option<Instant>,
    first: Option<Instant>,
    first_visible: Option<Instant>,
    last: Instant,
    /// Of the first chunk.
    first_tokens: Option<u32>,
    gaps: Vec<Gap>,
    chunks: u32,
    /// Chunks that did not tell how many tokens they had.
    untold: u32,
    /// Of the chunks that told.
    told_tokens: u64,
    /// Chunks that came in the same read as the one before.
    coalesced: u32,
    counted: Option<u64>,
    /// The model ended its answer by itself.
    stopped: bool,
    finished: bool,
}

/// The metrics and their formulas, as [`Course`] has them: for reports.
pub const FORMULAS: [(&str, &str); 10] = [
    ("ttft", "first token - intended instant"),
    ("ttft_sent", "first token - sending"),
    (
        "ttft_visible",
        "first token that is not reasoning - intended instant",
    ),
    (
        "first_event",
        "first event without a token - intended instant",
    ),
    (
        "tpot",
        "(last token - first)/(tokens - those of the first chunk)",
    ),
    (
        "itl",
        "gap between chunks/tokens of the later one, once for each of them",
    ),
    ("itl_chunk", "gap between chunks with tokens"),
    ("e2e", "last token - intended instant"),
    ("e2e_sent", "last token - sending"),
    ("ntpot", "(last token - sending)/tokens"),
];

/// The time between two chunks with tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// From the chunk before to this one.
    pub length: Duration,
    /// Tokens of this one, where it told.
    pub tokens: Option<u32>,
}

impl Course {
    /// Of a request that was handed to its connection at `sent`.
    #[must_use]
    pub fn new(sent: Instant) -> Self {
        Course {
            sent,
            first_event: None,
            first: None,
            first_visible: None,
            last: sent,
            first_tokens: None,
            gaps: Vec::new(),
            chunks: 0,
            untold: 0,
            told_tokens: 0,
            coalesced: 0,
            counted: None,
            stopped: false,
            finished: false,
        }
    }

    /// Something came that had no token.
    pub fn event(&mut self, at: Instant) {
        self.first_event.get_or_insert(at);
    }

    /// A chunk with tokens came: `tokens` of them, where it told.
    ///
    /// Chunks come in the order of their instants; one that lies before the last is moved up to it. Of
    /// [`Content::Nothing`] it is an [`event`](Course::event).
    pub fn tokens(&mut self, at: Instant, content: Content, tokens: Option<u32>) {
        self.event(at);
        if content == Content::Nothing {
            return;
        }
        let at = at.max(self.last);
        if content == Content::Visible {
            self.first_visible.get_or_insert(at);
        }
        if self.first.is_some() {
            let length = at - self.last;
            self.coalesced += u32::from(length.is_zero());
            self.gaps.push(Gap { length, tokens });
        } else {
            self.first = Some(at);
            self.first_tokens = tokens;
        }
        self.last = at;
        self.chunks += 1;
        match tokens {
            Some(tokens) => self.told_tokens += u64::from(tokens),
            None => self.untold += 1,
        }
    }

    /// The answer is whole: the server counted `output_tokens`, if it did, and `stopped` says whether the model ended it
    /// by itself, with a token that may have been counted and not sent.
    pub fn finish(&mut self, output_tokens: Option<u64>, stopped: bool) {
        (self.counted, self.stopped, self.finished) = (output_tokens, stopped, true);
    }

    /// When the request was handed over.
    #[must_use]
    pub fn sent(&self) -> Instant {
        self.sent
    }

    /// t₁, when the first token came.
    #[must_use]
    pub fn first_token(&self) -> Option<Instant> {
        self.first
    }

    /// When the first token came that was not reasoning.
    #[must_use]
    pub fn first_visible(&self) -> Option<Instant> {
        self.first_visible
    }

    /// t_last, when the last token came.
    #[must_use]
    pub fn last_token(&self) -> Option<Instant> {
        self.first.map(|_| self.last)
    }

    /// The gaps between chunks with tokens.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// How many chunks with tokens came.
    #[must_use]
    pub fn chunks(&self) -> u32 {
        self.chunks
    }

    /// How many of them came in the same read of the socket as the one before: their gap is 0 because they were not
    /// read, or not sent, one by one.
    #[must_use]
    pub fn coalesced(&self) -> u32 {
        self.coalesced
    }

    /// Tokens of the answer as far as it came, and where their number comes from; `None` without any.
    #[must_use]
    pub fn output_tokens(&self) -> Option<(u64, TokenSource)> {
        let by_chunks = self.told_tokens + u64::from(self.untold);
        match (self.counted, self.untold) {
            (Some(counted), _) => Some((counted, TokenSource::Usage)),
            (None, _) if by_chunks == 0 => None,
            (None, 0) => Some((by_chunks, TokenSource::Chunks)),
            (None, _) => Some((by_chunks, TokenSource::Assumed)),
        }
    }

    /// Tokens in each chunk, as far as anything says it.
    fn shares(&self) -> Shares {
        if self.untold == 0 {
            return Shares::Told;
        }
        let chunks = u64::from(self.chunks);
        let is_one_each = match self.counted {
            None => true,
            Some(counted) => counted == chunks || (self.stopped && counted == chunks + 1),
        };
        match is_one_each && self.untold == self.chunks {
            true => Shares::OneEach,
            false => Shares::Unknown,
        }
    }

    /// n, tokens that had come by the last chunk.
    fn arrived(&self) -> u64 {
        match self.shares() {
            Shares::Told => self.told_tokens,
            Shares::OneEach => u64::from(self.chunks),
            Shares::Unknown => self
                .counted
                .unwrap_or(self.told_tokens + u64::from(self.untold)),
        }
    }

    /// TPOT, (t_last − t₁)/(n − n₁): `None` where nothing came after the first chunk, or the answer is not whole.
    #[must_use]
    pub fn time_per_output_token(&self) -> Option<Duration> {
        let first = self.first.filter(|_| self.finished)?;
        let later = self
            .arrived()
            .checked_sub(u64::from(self.first_tokens.unwrap_or(1)))?;
        per(self.last - first, later)
    }

    /// The gaps per token and how many tokens each is of; `None` where nothing says how many a chunk had.
    #[must_use]
    pub fn token_gaps(&self) -> Option<impl Iterator<Item = (Duration, u32)> + '_> {
        let one_each = match self.shares() {
            Shares::Told => false,
            Shares::OneEach => true,
            Shares::Unknown => return None,
        };
        // A chunk of no token, as of half a character, gives its gap to the next.
        let mut since = Duration::ZERO;
        Some(self.gaps.iter().filter_map(move |gap| {
            since += gap.length;
            let tokens = if one_each { 1 } else { gap.tokens? };
            let each = per(since, u64::from(tokens))?;
            since = Duration::ZERO;
            Some((each, tokens))
        }))
    }

    /// Writes the metrics of the table above, those that the answer has.
    pub fn details(&self, into: &mut Details<'_>) {
        if let (Some(at), None) = (self.first_event, self.first) {
            into.since_intended("first_event", at);
        }
        let Some(first) = self.first else {
            return;
        };
        if let Some(at) = self.first_event.filter(|at| *at < first) {
            into.since_intended("first_event", at);
        }
        into.answer_since_intended("ttft", first);
        into.of_answer("ttft_sent", first.saturating_duration_since(self.sent));
        if let Some(at) = self.first_visible.filter(|at| *at > first) {
            into.since_intended("ttft_visible", at);
        }
        for gap in &self.gaps {
            into.duration("itl_chunk", gap.length);
        }
        match self.token_gaps() {
            Some(gaps) => {
                for (gap, tokens) in gaps {
                    (0..tokens).for_each(|_| into.duration("itl", gap));
                }
            }
            None => into.count("itl_not_observable", 1),
        }
        if self.finished {
            into.answer_since_intended("e2e", self.last);
            let whole = self.last - self.sent;
            into.of_answer("e2e_sent", whole);
            let per_token = self.output_tokens().and_then(|(n, _)| per(whole, n));
            for (name, taken) in [("tpot", self.time_per_output_token()), ("ntpot", per_token)] {
                if let Some(taken) = taken {
                    into.of_answer(name, taken);
                }
            }
        }
        into.counts([
            ("chunks", u64::from(self.chunks)),
            ("chunks_coalesced", u64::from(self.coalesced)),
        ]);
    }
}

/// By itself a course counts as served: for answers that were made elsewhere, as in a simulation.
impl Describe for Course {
    fn verdict(&self) -> Verdict {
        Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        Course::details(self, into);
    }
}

/// What is known of the tokens in each chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shares {
    Told,
    OneEach,
    Unknown,
}

/// `None` where there is nothing to divide by.
fn per(length: Duration, parts: u64) -> Option<Duration> {
    let ns = length.as_nanos().checked_div(u128::from(parts))?;
    Some(Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests;
