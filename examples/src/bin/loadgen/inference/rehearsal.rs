//! The server as arithmetic: the engines of `openloop_capacity::batching` in virtual time.

use super::requests::Prompting;
use openloop_capacity::batching::{Cluster, ClusterConfig, EngineConfig, Request};
use openloop_experiment::drive::DriveError;
use openloop_experiment::simulate::{Tokens, simulate_engines};
use openloop_experiment::{GOOD, Plan, Run};
use openloop_inference::{Content, Course, Goodput};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_workload::prompts::Prompt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What is simulated, for people.
pub(super) const ENGINE: &str = "one engine that batches continuously, of the size of an 8B model on one accelerator (8192 blocks of 16 tokens, \
     8 ms a step, 60 us a token of a prompt); --service plays a plain queue instead";

/// Runs a plan on it.
pub(super) fn rehearse(
    plan: &Plan,
    prompting: &Prompting,
    good: &Goodput,
) -> Result<Run, DriveError> {
    let engine = EngineConfig::default();
    let cluster =
        Cluster::new(ClusterConfig::single(engine)).map_err(|error| DriveError::SetUp {
            shard: 0,
            source: Box::new(error),
        })?;
    let ask = |seq: u64| prompting.prompt(seq);
    simulate_engines(
        plan,
        cluster,
        |ticket| match ask(ticket.seq) {
            Some(prompt) => {
                let input = u32::try_from(prompt.input_tokens()).unwrap_or(u32::MAX);
                let hashes = block_hashes(&prompt, engine.block_tokens);
                Request::new(0, input, prompt.output_tokens).with_block_hashes(hashes)
            }
            // The trace has ended: no engine takes it.
            None => Request::new(0, 0, 0),
        },
        |tokens| Answered::of(tokens, ask(tokens.ticket.seq), good),
    )
}

/// What the whole blocks of a prompt hold, each with all before it.
fn block_hashes(prompt: &Prompt, block_tokens: u32) -> Vec<u64> {
    let mut so_far = DefaultHasher::new();
    let mut hashes = Vec::new();
    let segments = prompt.segments.iter();
    let tokens = segments.flat_map(|part| (0..part.tokens).map(|at| (part.content, at)));
    for (place, token) in (1_u32..).zip(tokens) {
        token.hash(&mut so_far);
        if place.is_multiple_of(block_tokens) {
            hashes.push(so_far.finish());
        }
    }
    hashes
}

/// One answer, as a client would tell of it.
struct Answered {
    course: Course,
    input_tokens: u64,
    output_tokens: u64,
    good: Option<Goodput>,
}

impl Answered {
    fn of(tokens: &Tokens, prompt: Option<Prompt>, good: &Goodput) -> Self {
        let mut course = Course::new(tokens.sent);
        for at in &tokens.at {
            course.tokens(*at, Content::Visible, Some(1));
        }
        course.finish(None, false);
        Answered {
            course,
            input_tokens: prompt.map_or(0, |prompt| prompt.input_tokens()),
            output_tokens: tokens.at.len() as u64,
            good: Some(good.clone()).filter(|good| !good.is_empty()),
        }
    }
}

impl Describe for Answered {
    fn verdict(&self) -> Verdict {
        Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        self.course.details(into);
        into.counts([
            ("input_tokens", self.input_tokens),
            ("asked_input_tokens", self.input_tokens),
            ("output_tokens", self.output_tokens),
            ("asked_output_tokens", self.output_tokens),
            ("finish_length", 1),
        ]);
        if let Some(good) = &self.good {
            let is_good = good.is_good(&self.course, into.intended());
            into.count(GOOD, u64::from(is_good));
        }
    }
}
