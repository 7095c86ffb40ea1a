//! What each request asks for.

use super::InferenceArgs;
use super::args::AnswersArg;
use openloop_experiment::Step;
use openloop_http::RequestError;
use openloop_inference::{Inference, InferenceError, Request};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_workload::numbered;
use openloop_workload::prompts::{Cache, Conversations, Nonce, Prompt, Prompts, TracePrompts};
use openloop_workload::traces::Trace;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where prompts come from: number `seq` is the same whoever sends it.
#[derive(Debug)]
pub(crate) struct Prompting {
    source: Source,
    seed: u64,
    nonce: u64,
    /// What the model said, where conversations go on from that.
    answers: Option<Answers>,
}

/// What the model said in each conversation, turn by turn: kept to the end of the run.
#[derive(Clone, Debug, Default)]
struct Answers(Arc<Mutex<HashMap<u64, Vec<Option<String>>>>>);

impl Answers {
    fn of(&self, session: u64) -> Vec<Option<String>> {
        self.lock().get(&session).cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Vec<Option<String>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the answer to one request is to be kept.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    answers: Answers,
    step: Step,
}

impl Place {
    /// The model said this.
    pub(crate) fn keep(self, text: Option<&str>) {
        let mut answers = self.answers.lock();
        let turns = answers.entry(self.step.session()).or_default();
        let turn = self.step.index() as usize;
        if turns.len() <= turn {
            turns.resize(turn + 1, None);
        }
        turns[turn] = text.map(str::to_owned);
    }
}

#[derive(Debug)]
enum Source {
    Single(Prompts),
    Turns(Conversations),
    Trace(TracePrompts),
}

impl Prompting {
    /// # Errors
    /// When lengths are none, or the trace has none.
    pub(crate) fn new(arguments: &InferenceArgs, trace: Option<&Trace>) -> Result<Self, String> {
        let tree = arguments
            .prefixes
            .as_ref()
            .map(|prefixes| prefixes.0.clone());
        let (input, output) = arguments.lengths()?;
        let of_prompts = |error: openloop_workload::prompts::PromptsError| error.to_string();
        let has_lengths = |trace: &&Trace| {
            let mut requests = trace.requests().iter();
            requests.any(|request| request.input_tokens.is_some())
        };
        let source = match trace.filter(has_lengths) {
            Some(trace) => {
                let is_given = arguments.input_tokens.is_some() && !arguments.is_stated;
                if is_given || tree.is_some() {
                    return Err(
                        "the trace has prompts of its own: leave out --input-tokens and --prefixes"
                            .to_owned(),
                    );
                }
                let trace = TracePrompts::new(trace.clone(), Nonce::None);
                Source::Trace(trace.map_err(of_prompts)?)
            }
            None if arguments.load.schedule.sessions.is_some() => {
                let turns = Conversations::new(input, output).map_err(of_prompts)?;
                Source::Turns(match tree {
                    Some(tree) => turns.prefixes(tree),
                    None => turns,
                })
            }
            None => {
                let single = Prompts::new(input, output).map_err(of_prompts)?;
                Source::Single(match tree {
                    Some(tree) => single.prefixes(tree),
                    None => single,
                })
            }
        };
        let is_real = arguments.answers == AnswersArg::Real;
        if is_real && !matches!(source, Source::Turns(_)) {
            return Err("only conversations have answers to go on from: give --sessions with --answers real".to_owned());
        }
        Ok(Prompting {
            source,
            seed: arguments.load.schedule.seed,
            nonce: arguments.nonce,
            answers: is_real.then(Answers::default),
        })
    }

    /// The same for run number `run` of this invocation, from 0: its prompts have nothing in common with those of another.
    pub(crate) fn of_run(&self, run: u64) -> Self {
        let nonce = numbered(self.nonce, run);
        let (source, seed) = match &self.source {
            Source::Single(prompts) => {
                let prompts = prompts.clone().nonce(Nonce::Run(nonce));
                (Source::Single(prompts), self.seed)
            }
            Source::Turns(turns) => {
                let turns = turns.clone().nonce(Nonce::Run(nonce));
                (Source::Turns(turns), self.seed)
            }
            // Its lengths are given, and all that the seed decides are contents.
            Source::Trace(trace) => (Source::Trace(trace.clone()), numbered(self.seed, nonce)),
        };
        Prompting {
            source,
            seed,
            nonce,
            answers: self.answers.as_ref().map(|_| Answers::default()),
        }
    }

    /// Where the answer to request number `seq` is to be kept, if it is needed.
    pub(crate) fn place(&self, seq: u64) -> Option<Place> {
        Some(Place {
            answers: self.answers.clone()?,
            step: Step::of_seq(seq),
        })
    }

    /// Whether the text of answers is needed.
    pub(crate) fn needs_text(&self) -> bool {
        self.answers.is_some()
    }

    /// The prompt of request number `seq`; `None` where there is no such request.
    pub(crate) fn prompt(&self, seq: u64) -> Option<Prompt> {
        match &self.source {
            Source::Single(prompts) => Some(prompts.prompt(self.seed, seq)),
            Source::Turns(turns) => {
                let step = Step::of_seq(seq);
                turns.turn(self.seed, step.session(), step.index())
            }
            Source::Trace(trace) => trace.prompt(self.seed, seq),
        }
    }

    /// Request number `seq`.
    ///
    /// # Errors
    /// When there is no such request, or it cannot be sent.
    pub(crate) fn request(&self, client: &Inference, seq: u64) -> Result<Request, CallError> {
        let prompt = self.prompt(seq).ok_or(CallError::NoPrompt)?;
        let said = match &self.answers {
            Some(answers) => answers.of(Step::of_seq(seq).session()),
            None => Vec::new(),
        };
        Ok(client.request_after(prompt, &said)?)
    }

    /// The share of the prompts' tokens that an endless prefix cache would know.
    pub(crate) fn hit_share(&self) -> f64 {
        match &self.source {
            Source::Single(prompts) => prompts.hit_share(Cache::ENDLESS),
            Source::Turns(turns) => self.of_turns(turns),
            Source::Trace(trace) => trace.hit_share(),
        }
    }

    /// Of conversations of four turns.
    fn of_turns(&self, turns: &Conversations) -> f64 {
        match self.answers {
            Some(_) => turns.hit_share_with_real_answers(4),
            None => turns.hit_share(4),
        }
    }

    /// In words, for people.
    pub(crate) fn describe(&self) -> String {
        match &self.source {
            Source::Single(prompts) => format!(
                "prompts of {:.0} tokens in the mean, answers of {:.0}; a warm prefix cache would know {:.1} % of the prompts",
                prompts.mean_input_tokens(),
                prompts.mean_output_tokens(),
                100.0 * prompts.hit_share(Cache::ENDLESS)
            ),
            Source::Turns(turns) => format!(
                "conversations that go on from {}: of four turns a prefix cache would know {:.1} % of the prompts",
                match self.answers {
                    Some(_) => "what the model said",
                    None =>
                        "answers of their own, the same in every run (--answers real: from what the model said)",
                },
                100.0 * self.of_turns(turns)
            ),
            Source::Trace(trace) => format!(
                "the {} prompts of the trace, of which an endless prefix cache would know {:.1} %",
                trace.len(),
                100.0 * trace.hit_share()
            ),
        }
    }
}

/// Why there is no whole answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// The call failed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
    /// The request is none.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The trace ends before it.
    #[error("there is no prompt for this request")]
    NoPrompt,
}

impl Describe for CallError {
    fn verdict(&self) -> Verdict {
        match self {
            CallError::Inference(error) => error.verdict(),
            CallError::Request(_) | CallError::NoPrompt => Verdict::Failed("request"),
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        if let CallError::Inference(error) = self {
            error.details(into);
        }
    }
}
