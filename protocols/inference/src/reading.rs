//! An answer on its way.

use crate::answer::{Parts, Transport};
use crate::chunk::{Chunk, Content, Finish, ServerTimes};
use crate::usage::Usage;
use crate::{Answer, Course, EventParser, Goodput, InferenceError, InferenceErrorKind, Totals};
use bytes::Bytes;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use openloop_http::{BodyReader, Head, HttpError, Piece, Reply};
use openloop_workload::prompts::{self, Prompt};
use std::sync::Arc;
use tokio::time::Instant;

/// The longest answer that is kept where nothing is streamed, and the most of an error that is shown.
const MOST: usize = 64 * 1024 * 1024;
const SHOWN: usize = 500;

/// How the body is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Its head has not come.
    Unknown,
    Events,
    /// One JSON object.
    Whole,
    /// Of an answer that is none: an error.
    Error(StatusCode),
}

/// Takes one answer as it comes, and says in the end what it was.
#[derive(Debug)]
pub(crate) struct Reading {
    streams: bool,
    keep_text: bool,
    form: Form,
    parser: EventParser,
    body: Vec<u8>,
    /// The last read of the socket, and when what it brought had come.
    read: Option<(u64, Instant)>,
    course: Option<Course>,
    /// Tokens up to the last chunk, as long as every one told.
    so_far: Option<u64>,
    usage: Usage,
    finish: Option<Finish>,
    done: bool,
    server: ServerTimes,
    text: String,
    /// The first thing that was wrong.
    wrong: Option<InferenceErrorKind>,
    totals: Totals,
    counted: u64,
    goodput: Arc<Goodput>,
    prompt: Option<Arc<Prompt>>,
    ended: bool,
}

impl BodyReader for Reading {
    fn head(&mut self, head: &Head<'_>) {
        let content_type = head.headers.get(CONTENT_TYPE);
        let is_json = content_type
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.to_ascii_lowercase().contains("json"));
        self.begin(head.status, is_json, head.sent);
    }

    fn data(&mut self, data: &Bytes, piece: Piece<'_>) {
        let at = self.instant(piece);
        self.take(data, at);
    }
}

impl Reading {
    pub(crate) fn new(
        streams: bool,
        keep_text: bool,
        totals: Totals,
        goodput: Arc<Goodput>,
        prompt: Option<Arc<Prompt>>,
    ) -> Self {
        Reading {
            streams,
            keep_text,
            form: Form::Unknown,
            parser: EventParser::new(),
            body: Vec::new(),
            read: None,
            course: None,
            so_far: Some(0),
            usage: Usage::default(),
            finish: None,
            done: false,
            server: ServerTimes::default(),
            text: String::new(),
            wrong: None,
            totals,
            counted: 0,
            goodput,
            prompt,
            ended: false,
        }
    }

    /// An answer begins, to a request that was sent then.
    fn begin(&mut self, status: StatusCode, is_json: bool, sent: Instant) {
        self.form = match (status.is_success(), self.streams && !is_json) {
            (false, _) => Form::Error(status),
            (true, true) => Form::Events,
            (true, false) => Form::Whole,
        };
        self.course = Some(Course::new(sent));
    }

    /// When a piece came: pieces of one read at one instant, and none before another.
    fn instant(&mut self, piece: Piece<'_>) -> Instant {
        if let (Some(read), Some((last, at))) = (piece.read(), self.read)
            && read == last
        {
            return at;
        }
        let now = Instant::now();
        let at = piece.received(now).unwrap_or(now);
        let at = self.read.map_or(at, |(_, last)| at.max(last));
        self.read = Some((piece.read().unwrap_or(0), at));
        at
    }

    fn take(&mut self, data: &[u8], at: Instant) {
        match self.form {
            Form::Events => {
                // The parser lends its events, and what they do is done to everything else.
                let mut parser = std::mem::take(&mut self.parser);
                let fed = parser.feed(data, |event| self.event(&event, at));
                self.parser = parser;
                if let Err(error) = fed {
                    self.form = Form::Unknown;
                    self.complain(InferenceErrorKind::Malformed(error.to_string()));
                }
            }
            Form::Whole | Form::Error(_) if self.body.len() + data.len() <= MOST => {
                self.body.extend_from_slice(data);
            }
            Form::Whole | Form::Error(_) | Form::Unknown => {}
        }
        self.read = Some((self.read.map_or(0, |(read, _)| read), at));
    }

    fn event(&mut self, event: &crate::Event<'_>, at: Instant) {
        if event.data().trim_ascii() == b"[DONE]" {
            self.done = true;
            return;
        }
        let chunk = match Chunk::parse(event.data()) {
            Ok(chunk) => chunk,
            Err(error) => {
                let shown = excerpt(event.data());
                self.complain(InferenceErrorKind::Malformed(format!("{error}: {shown}")));
                return;
            }
        };
        if event.name() == "error" && chunk.error.is_none() {
            self.complain(InferenceErrorKind::Stream(excerpt(event.data())));
            return;
        }
        self.chunk(chunk, at);
    }

    fn chunk(&mut self, chunk: Chunk, at: Instant) {
        if let Some(error) = chunk.error {
            self.complain(InferenceErrorKind::Stream(error));
            return;
        }
        let tokens = self.count(&chunk);
        if let Some(course) = &mut self.course {
            course.tokens(at, chunk.content, tokens);
        }
        if chunk.content != Content::Nothing {
            let came = u64::from(tokens.unwrap_or(1));
            self.counted += came;
            self.totals.came(came);
        }
        if let Some(usage) = chunk.usage {
            self.usage = Usage {
                input_tokens: usage.input_tokens.or(self.usage.input_tokens),
                output_tokens: usage.output_tokens.or(self.usage.output_tokens),
                cached_tokens: usage.cached_tokens.or(self.usage.cached_tokens),
                reasoning_tokens: usage.reasoning_tokens.or(self.usage.reasoning_tokens),
            };
        }
        self.server = ServerTimes {
            prefill: chunk.server.prefill.or(self.server.prefill),
            decode: chunk.server.decode.or(self.server.decode),
        };
        self.finish = chunk.finish.or(self.finish);
        if self.keep_text {
            self.text.push_str(&chunk.text);
        }
    }

    /// How many tokens the chunk has, where that is told.
    fn count(&mut self, chunk: &Chunk) -> Option<u32> {
        let before = self.so_far?;
        let since = || u32::try_from(chunk.tokens_so_far?.checked_sub(before)?).ok();
        let tokens = chunk.tokens.or_else(since);
        let is_content = chunk.content != Content::Nothing;
        self.so_far = match (is_content, tokens) {
            (_, Some(tokens)) => Some(before + u64::from(tokens)),
            (false, None) => Some(before),
            // What is told from now on is not of one chunk alone.
            (true, None) => None,
        };
        tokens.filter(|_| is_content)
    }

    fn is_first(&self) -> bool {
        self.course
            .as_ref()
            .is_some_and(|course| course.chunks() == 0)
    }

    fn complain(&mut self, kind: InferenceErrorKind) {
        self.wrong.get_or_insert(kind);
    }

    /// The transport has ended like this: what was the answer?
    pub(crate) fn end(
        mut self,
        transport: Result<Reply, HttpError>,
    ) -> Result<Answer, InferenceError> {
        let broke = transport.as_ref().err().map(ToString::to_string);
        let kind = self.conclude(broke);
        let streamed = self.form == Form::Events;
        let sent = self.course.as_ref().map(Course::sent);
        let parts = Parts {
            course: self.course.take().filter(|_| streamed),
            whole_at: self.read.map(|(_, at)| at).filter(|_| !streamed),
            sent,
            asks_stream: self.streams,
            usage: self.usage,
            finish: self.finish,
            server: self.server,
            text: self.keep_text.then(|| std::mem::take(&mut self.text)),
            prompt: self.prompt.take(),
            goodput: self.goodput.clone(),
            transport: match transport {
                Ok(reply) => Transport::Reply(reply),
                Err(error) => Transport::Error(error),
            },
        };
        match kind {
            None => Ok(Answer(Box::new(parts))),
            Some(kind) => Err(InferenceError {
                kind,
                parts: Box::new(parts),
            }),
        }
    }

    /// Nothing comes any more, for this reason if it is none of the protocol. Why it is no answer, if it is none.
    fn conclude(&mut self, broke: Option<String>) -> Option<InferenceErrorKind> {
        self.ended = true;
        // Behind [DONE] nothing is missing, however the connection ended.
        let broke = broke.filter(|_| !self.done);
        if self.form == Form::Whole && broke.is_none() {
            self.read_whole();
        }
        let kind = self.problem(broke);
        let stopped = self.finish == Some(Finish::Stop);
        if kind.is_none() {
            if let Some(course) = &mut self.course {
                course.finish(self.usage.output_tokens, stopped);
            }
            self.settle();
        }
        kind
    }

    fn problem(&mut self, broke: Option<String>) -> Option<InferenceErrorKind> {
        if let Form::Error(status) = self.form {
            let message = Chunk::parse(&self.body)
                .ok()
                .and_then(|chunk| chunk.error)
                .unwrap_or_else(|| excerpt(&self.body));
            return Some(InferenceErrorKind::Status { status, message });
        }
        if let Some(wrong) = self.wrong.take() {
            return Some(wrong);
        }
        if let Some(why) = broke {
            return Some(match self.course {
                None => InferenceErrorKind::Http(why),
                Some(_) => InferenceErrorKind::CutOff(format!("the stream broke off: {why}")),
            });
        }
        let streamed = self.form == Form::Events;
        if self.finish == Some(Finish::Abort) {
            return Some(InferenceErrorKind::Aborted);
        }
        if streamed && !self.done && self.finish.is_none() {
            let why = "the stream ended without a finish reason and without [DONE]".to_owned();
            return Some(InferenceErrorKind::CutOff(why));
        }
        let has_tokens = match streamed {
            true => !self.is_first(),
            false => self.counted > 0,
        };
        (!has_tokens).then_some(InferenceErrorKind::Empty)
    }

    /// An answer that came whole: none of its tokens was seen to come.
    fn read_whole(&mut self) {
        match Chunk::parse(&self.body) {
            Ok(chunk) => {
                let at = self.read.map_or_else(Instant::now, |(_, at)| at);
                self.chunk(chunk, at);
            }
            Err(error) => {
                let shown = excerpt(&self.body);
                self.complain(InferenceErrorKind::Malformed(format!("{error}: {shown}")));
            }
        }
    }

    /// The answer is whole: what the server counted stands instead of what was assumed.
    fn settle(&mut self) {
        let usage = self.usage;
        if let Some(tokens) = usage.output_tokens {
            self.totals.came(tokens.saturating_sub(self.counted));
        }
        if let Some(tokens) = usage.input_tokens {
            self.totals.asked(tokens);
        }
        if let Some(prompt) = &self.prompt {
            let output_tokens = usage.output_tokens.or(Some(self.counted));
            let usage = prompts::Usage {
                input_tokens: usage.input_tokens,
                output_tokens,
                cached_tokens: usage.cached_tokens,
            };
            self.totals.achieve(prompt, usage);
        }
    }
}

/// Dropped before its end it was given up.
impl Drop for Reading {
    fn drop(&mut self) {
        if !self.ended {
            self.totals.gave_up(self.counted);
        }
    }
}

/// The beginning of a text, for people.
fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} …", &text[..end]),
    }
}

#[cfg(test)]
mod tests;
