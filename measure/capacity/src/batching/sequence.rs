//! A request inside an engine.

use super::request::Request;

/// What an engine has to do for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// All of it.
    Whole,
    /// The prompt and the first token; the blocks stay taken until they are fetched.
    Prefill,
    /// What comes after the first token; the blocks of the prompt have arrived.
    Decode,
}

/// A request inside an engine.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) request: Request,
    pub(super) task: Task,
    /// Its blocks, in order.
    pub(super) table: Vec<u32>,
    /// Tokens whose keys and values are there.
    pub(super) computed: u32,
    /// Tokens of the answer that are known.
    pub(super) generated: u32,
    /// Tokens that the step under way computes.
    pub(super) scheduled: u32,
}

impl Sequence {
    pub(super) fn new(request: Request, task: Task) -> Self {
        let (computed, generated) = match task {
            Task::Whole | Task::Prefill => (0, 0),
            Task::Decode => (request.prompt_tokens, 1),
        };
        Sequence {
            request,
            task,
            table: Vec::new(),
            computed,
            generated,
            scheduled: 0,
        }
    }

    /// Tokens that are known: the next one follows when all of them are computed.
    pub(super) fn known(&self) -> u32 {
        self.request.prompt_tokens + self.generated
    }

    /// Tokens to compute before the next one follows.
    pub(super) fn remaining(&self) -> u32 {
        self.known() - self.computed
    }

    /// Whether it decodes: all but the newest token is computed.
    pub(super) fn decodes(&self) -> bool {
        self.generated > 0 && self.remaining() == 1
    }

    pub(super) fn is_finished(&self) -> bool {
        match self.task {
            Task::Prefill => self.generated > 0,
            Task::Whole | Task::Decode => self.generated >= self.request.output_tokens,
        }
    }
}
