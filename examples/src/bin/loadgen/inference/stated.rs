//! What a problem says of prompts and answers.

use super::InferenceArgs;
use super::args::Prefixes;
use openloop_workload::Values;
use openloop_workload::prompts::{Cache, Prompts};
use openloop_workload::values::Source;

/// How many shared prefixes there are where a problem says how much is shared, and nothing of how many: as those of a few
/// applications on one model.
const PREFIXES: u64 = 20;

/// How they are chosen, by Zipf's law.
const SKEW: f64 = 1.0;

impl InferenceArgs {
    /// Puts what the problem says of the requests in the place of what the flags do not say.
    ///
    /// The lengths of the problem are those of whole prompts. Where a share of these is what earlier prompts began with as
    /// well, that much of the mean is in shared prefixes, and the rest of a prompt is shorter by it.
    ///
    /// # Errors
    /// When no prefixes are so much of prompts of that length.
    pub(crate) fn fill(&mut self) -> Result<(), String> {
        let Some(statement) = &self.load.experiment.statement else {
            return Ok(());
        };
        let said = statement.workload.clone();
        let reuse = said.prefix_reuse.filter(|reuse| *reuse > 0.0);
        // Turns of a conversation have what was said before in common, and a trace what it says.
        let stands_alone = self.load.schedule.sessions.is_none() && !self.has_trace();
        let reuse = reuse.filter(|_| self.prefixes.is_none() && stands_alone);
        if let (None, Some(whole)) = (&self.input_tokens, &said.input_tokens) {
            let own = match reuse {
                Some(reuse) => whole
                    .scaled(1.0 - reuse)
                    .map_err(|error| not_so_much(reuse, error))?,
                None => whole.clone(),
            };
            self.input_tokens = source(&own);
            self.is_stated = true;
        }
        if let (None, Some(law)) = (&self.output_tokens, &said.output_tokens) {
            self.output_tokens = source(law);
        }
        let Some(reuse) = reuse else {
            return Ok(());
        };
        let (own, answers) = self.lengths()?;
        let prompts = Prompts::with_hit_share(reuse, Cache::ENDLESS, PREFIXES, SKEW, own, answers)
            .map_err(|error| not_so_much(reuse, error))?;
        self.prefixes = prompts.prefix_tree().cloned().map(Prefixes);
        Ok(())
    }

    fn has_trace(&self) -> bool {
        let arrivals = &self.load.schedule.arrivals;
        matches!(arrivals, Some(crate::arrivals::Source::Trace(_)))
    }
}

/// A law as a flag has it.
fn source(law: &Values) -> Option<Source> {
    law.to_string().parse().ok()
}

fn not_so_much(reuse: f64, error: impl std::fmt::Display) -> String {
    format!("workload.prefix_reuse = {reuse} cannot be: {error}")
}
