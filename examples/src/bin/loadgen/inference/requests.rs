//! What each request asks for.

use super::InferenceArgs;
use openloop_experiment::Step;
use openloop_http::RequestError;
use openloop_inference::{Inference, InferenceError, Request};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_workload::numbered;
use openloop_workload::prompts::{Cache, Conversations, Nonce, Prompts, TracePrompts};
use openloop_workload::traces::Trace;

/// Where prompts come from: number `seq` is the same whoever sends it.
#[derive(Debug)]
pub(crate) struct Prompting {
    source: Source,
    seed: u64,
    nonce: u64,
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
                if arguments.input_tokens.is_some() || tree.is_some() {
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
        Ok(Prompting {
            source,
            seed: arguments.load.schedule.seed,
            nonce: arguments.nonce,
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
        }
    }

    /// Request number `seq`.
    ///
    /// # Errors
    /// When there is no such request, or it cannot be sent.
    pub(crate) fn request(&self, client: &Inference, seq: u64) -> Result<Request, CallError> {
        let prompt = match &self.source {
            Source::Single(prompts) => Some(prompts.prompt(self.seed, seq)),
            Source::Turns(turns) => {
                let step = Step::of_seq(seq);
                turns.turn(self.seed, step.session(), step.index())
            }
            Source::Trace(trace) => trace.prompt(self.seed, seq),
        };
        Ok(client.request(prompt.ok_or(CallError::NoPrompt)?)?)
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
                "conversations: of four turns a prefix cache would know {:.1} % of the prompts",
                100.0 * turns.hit_share(4)
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
