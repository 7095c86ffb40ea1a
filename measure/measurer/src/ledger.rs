//! What is counted of one kind of request.

use crate::course::Course;
use crate::section::entry;
use crate::{Counts, Layout, Outcome, Phase, Sample};

/// The counts of one kind of request over the whole run, and its course in the steady phase.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) phases: Vec<(Phase, Counts)>,
    /// Of arrivals that were intended past the last phase.
    beyond: Counts,
    pub(crate) outcomes: Vec<(Outcome, u64)>,
    pub(crate) course: Course,
}

impl Ledger {
    pub(crate) fn new(layout: &Layout) -> Self {
        Ledger {
            phases: layout
                .spans()
                .iter()
                .map(|span| (span.phase, Counts::default()))
                .collect(),
            beyond: Counts::default(),
            outcomes: Vec::new(),
            course: Course::new(layout.steady()),
        }
    }

    /// Takes in an arrival that was intended in `phase`, if in any, and in that slice of the steady phase.
    pub(crate) fn record(&mut self, sample: &Sample, phase: Option<Phase>, slice: Option<usize>) {
        let of_phase = phase.and_then(|phase| self.phases.iter_mut().find(|(p, _)| *p == phase));
        let counts = of_phase.map_or(&mut self.beyond, |(_, counts)| counts);
        counts.scheduled += 1;
        counts.add(sample.outcome);
        *entry(&mut self.outcomes, sample.outcome) += 1;
        self.course.record(sample, slice);
    }

    /// Adds everything of `other`, which is of the same run.
    pub(crate) fn merge(&mut self, other: &Ledger) {
        for ((_, into), (_, from)) in self.phases.iter_mut().zip(&other.phases) {
            into.merge(from);
        }
        self.beyond.merge(&other.beyond);
        for (outcome, count) in &other.outcomes {
            *entry(&mut self.outcomes, *outcome) += count;
        }
        self.course.merge(&other.course);
    }

    /// All that have ended.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = self.beyond;
        for (_, of_phase) in &self.phases {
            counts.merge(of_phase);
        }
        counts
    }

    /// Those whose intended instant lies in `phase`.
    pub(crate) fn of_phase(&self, phase: Phase) -> Counts {
        self.phases
            .iter()
            .find(|(p, _)| *p == phase)
            .map_or(Counts::default(), |(_, counts)| *counts)
    }
}
