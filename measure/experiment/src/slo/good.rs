//! What an adapter says was served well enough.

use super::bound::GOOD;
use crate::Run;
use crate::series::ENOUGH_RUNS;
use crate::stats::section;
use openloop_measurer::{Kind, Outcome, Section, WINDOWS};

/// Good arrivals, and all, by section.
pub(super) struct Good(Vec<(f64, f64)>);

impl Good {
    /// Of all windows, or of whole runs where there are enough of them.
    pub(super) fn of(runs: &[Run], kind: Option<Kind>) -> Self {
        let of_run = |run: &Run| -> Vec<(f64, f64)> {
            let of = |section: &Section| match kind {
                None => of_section(section),
                Some(kind) => of_section(section.of_kind(kind)),
            };
            run.snapshot().windows().iter().map(of).collect()
        };
        let by_run: Vec<_> = runs.iter().map(of_run).collect();
        let add = |sum: (f64, f64), one: &(f64, f64)| (sum.0 + one.0, sum.1 + one.1);
        let sections = match by_run.len() >= ENOUGH_RUNS {
            true => {
                let whole = |run: &Vec<_>| run.iter().fold((0.0, 0.0), add);
                by_run.iter().map(whole).collect()
            }
            false => {
                let window = |at| {
                    let all = by_run.iter().filter_map(|run| run.get(at));
                    all.fold((0.0, 0.0), add)
                };
                (0..WINDOWS).map(window).collect()
            }
        };
        Good(sections)
    }

    /// Whether the adapter said which answers are good, or had none to say it of.
    pub(super) fn is_told(runs: &[Run]) -> bool {
        let windows = || runs.iter().flat_map(|run| run.snapshot().windows());
        let is_served = |section: &Section| served(section) > 0.0;
        !windows().any(is_served) || windows().any(|section| told_good(section).is_some())
    }

    pub(super) fn total(&self) -> f64 {
        self.0.iter().map(|(good, _)| good).sum()
    }

    pub(super) fn share(&self) -> Option<f64> {
        let all: f64 = self.0.iter().map(|(_, all)| all).sum();
        (all > 0.0).then(|| self.total() / all)
    }

    pub(super) fn share_interval(&self) -> Option<(f64, f64)> {
        let share = |(good, all): &(f64, f64)| (*all > 0.0).then(|| good / all);
        let shares: Vec<f64> = self.0.iter().map(share).collect::<Option<_>>()?;
        let (low, high) = section(self.share()?, &shares)?;
        Some((low.max(0.0), high.min(1.0)))
    }

    /// Sections are of one length.
    pub(super) fn rate_interval(&self, rate: f64, seconds: f64) -> Option<(f64, f64)> {
        let each = seconds / self.0.len() as f64;
        let rates: Vec<f64> = self.0.iter().map(|(good, _)| good / each).collect();
        let (low, high) = section(rate, &rates)?;
        Some((low.max(0.0), high))
    }
}

/// Arrivals of a section that were good, and all of them.
fn of_section(section: &Section) -> (f64, f64) {
    let good = told_good(section).unwrap_or_else(|| served(section));
    (good, section.response_slo().count() as f64)
}

fn told_good(section: &Section) -> Option<f64> {
    let mut counts = section.counts();
    counts
        .find(|(name, _)| *name == GOOD)
        .map(|(_, n)| n as f64)
}

fn served(section: &Section) -> f64 {
    let ok = section
        .classes()
        .filter(|(outcome, _)| *outcome == Outcome::Ok);
    ok.map(|(_, class)| class.response.count()).sum::<u64>() as f64
}
