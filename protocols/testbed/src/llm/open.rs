//! A stream under way, and what is written of it.

use super::ask::Ask;
use super::frame::{Counts, END, Frames, HEAD, Says};
use super::log::Stream;
use super::style::{RoleChunk, StreamFault, Style, UsageIn};
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// What becomes of the connection of a stream that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Keep,
    Close,
}

/// A stream under way.
#[derive(Debug)]
pub(super) struct Open {
    id: u64,
    socket: Arc<TcpStream>,
    ask: Ask,
    pub(super) fault: Option<StreamFault>,
    /// Its place in the log.
    pub(super) place: usize,
    output_tokens: u32,
    pub(super) tokens: u32,
    /// Of these, not written yet: a chunk has several.
    unwritten: u32,
    begun: bool,
    unsent: Vec<u8>,
    /// Bytes that the socket did not take.
    rest: Vec<u8>,
    pub(super) ended: Option<oneshot::Sender<Then>>,
}

impl Open {
    /// Of the request number `id`, which will have so many tokens; `ended` hears of its end.
    pub(super) fn new(
        id: u64,
        socket: &Arc<TcpStream>,
        ask: Ask,
        output_tokens: u32,
        fault: Option<StreamFault>,
        ended: oneshot::Sender<Then>,
    ) -> Self {
        Self {
            id,
            socket: Arc::clone(socket),
            ask,
            fault,
            place: 0,
            output_tokens,
            tokens: 0,
            unwritten: 0,
            begun: false,
            unsent: Vec::new(),
            rest: Vec::new(),
            ended: Some(ended),
        }
    }

    pub(super) fn streams(&self) -> bool {
        self.ask.stream
    }

    /// Whether there are bytes that its client has not taken.
    pub(super) fn is_behind(&self) -> bool {
        !self.rest.is_empty()
    }

    /// The head of the answer and its role.
    pub(super) fn head(&mut self, style: &Style) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        self.unsent.extend_from_slice(HEAD);
        if style.role != RoleChunk::None && self.ask.chat {
            self.write(style, |frames, _, bytes| {
                frames.chunk(Says::Role, None, None, bytes);
            });
        }
    }

    /// What there is of a chunk, once it is full.
    pub(super) fn token(&mut self, style: &Style, log: &Stream) {
        self.tokens += 1;
        self.unwritten += 1;
        if !self.ask.stream {
            return;
        }
        self.head(style);
        let is_last = self.tokens == self.output_tokens;
        if self.unwritten < style.tokens_per_chunk && !is_last {
            return;
        }
        let counts = self.counts(style, log);
        self.write(style, |frames, open, bytes| match open.fault {
            Some(StreamFault::RoleOnly) => {}
            Some(StreamFault::Empty) => frames.chunk(Says::EmptyText, None, None, bytes),
            _ => {
                let says = Says::Words {
                    count: open.unwritten,
                    reasoning: open.tokens <= style.reasoning,
                };
                let with_all = is_last && style.usage == UsageIn::LastToken;
                let usage = with_all || style.usage == UsageIn::EveryChunk;
                let finish = with_all.then(|| open.finish_reason());
                frames.chunk(says, finish, usage.then_some(counts), bytes);
            }
        });
        self.unwritten = 0;
    }

    /// The end of an answer that is whole.
    pub(super) fn finish(&mut self, style: &Style, log: &Stream) {
        let (reason, counts) = (self.finish_reason(), self.counts(style, log));
        if !self.ask.stream {
            self.write(style, |frames, _, bytes| {
                bytes.append(&mut frames.whole(counts, reason));
            });
            return;
        }
        self.write(style, |frames, open, bytes| {
            let in_last = style.usage == UsageIn::LastChunk;
            if style.usage != UsageIn::LastToken {
                frames.chunk(
                    Says::Nothing,
                    Some(reason),
                    in_last.then_some(counts),
                    bytes,
                );
            }
            let own = match style.usage {
                UsageIn::OwnChunk => open.ask.include_usage,
                UsageIn::EveryChunk => true,
                UsageIn::Nowhere | UsageIn::LastChunk | UsageIn::LastToken => false,
            };
            if own {
                frames.usage(counts, bytes);
            }
            if style.done {
                frames.event("[DONE]", bytes);
            }
            bytes.extend_from_slice(END);
        });
    }

    /// What is wrong with it, where that is due: whether it goes on all the same, or else what becomes of its connection,
    /// if anything does.
    pub(super) fn break_off(&mut self, style: &Style) -> Option<Option<Then>> {
        let fault = self.fault.clone()?;
        if fault.after() != Some(self.tokens) {
            return None;
        }
        let then = match fault {
            StreamFault::Garbage(_) => {
                self.write(style, |frames, _, bytes| {
                    frames.event(r#"{"choices":[{"delta""#, bytes);
                });
                return None;
            }
            StreamFault::Error(_) => {
                self.write(style, |frames, _, bytes| {
                    frames.event(r#"{"error":{"message":"scripted","code":500}}"#, bytes);
                    bytes.extend_from_slice(END);
                });
                Some(Then::Keep)
            }
            StreamFault::Abort(_) => {
                self.write(style, |frames, _, bytes| {
                    frames.chunk(Says::Nothing, Some("abort"), None, bytes);
                    frames.event("[DONE]", bytes);
                    bytes.extend_from_slice(END);
                });
                Some(Then::Keep)
            }
            StreamFault::EndEarly(_) => {
                self.unsent.extend_from_slice(END);
                Some(Then::Keep)
            }
            StreamFault::CutOff(_) => Some(Then::Close),
            StreamFault::Hang(_) => None,
            StreamFault::RoleOnly | StreamFault::Empty | StreamFault::Status(_) => return None,
        };
        Some(then)
    }

    /// Sends what there is, as far as the socket takes it.
    pub(super) fn flush(&mut self) {
        self.rest.append(&mut self.unsent);
        while !self.rest.is_empty() {
            match self.socket.try_write(&self.rest) {
                Ok(written) => drop(self.rest.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Its connection will see it.
                Err(_) => return self.rest.clear(),
            }
        }
    }

    fn write(&mut self, style: &Style, write: impl FnOnce(&Frames<'_>, &Open, &mut Vec<u8>)) {
        let mut bytes = std::mem::take(&mut self.unsent);
        let frames = Frames {
            style,
            ask: &self.ask,
            id: self.id,
        };
        write(&frames, self, &mut bytes);
        self.unsent = bytes;
    }

    fn finish_reason(&self) -> &'static str {
        match self.output_tokens < self.ask.max_tokens {
            true => "stop",
            false => "length",
        }
    }

    fn counts(&self, style: &Style, log: &Stream) -> Counts {
        let is_empty = matches!(self.fault, Some(StreamFault::RoleOnly | StreamFault::Empty));
        Counts {
            prompt: log.prompt_tokens,
            cached: log.cached_tokens,
            answer: if is_empty { 0 } else { self.tokens },
            reasoning: self.tokens.min(style.reasoning),
        }
    }
}
