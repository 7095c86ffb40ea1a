//! An overload in words and numbers.

use super::{Resilience, Stage};
use crate::units::{Ns, Percent, Short};
use openloop_measurer::{Outcome, Quantile};
use std::fmt;

impl fmt::Display for Resilience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "verdict: {}", self.verdict().name().to_uppercase())?;
        for claim in self.claims() {
            let verdict = claim.verdict.name();
            writeln!(f, "  {verdict:<13} {}: {}", claim.claim, claim.found)?;
        }
        for why in self.why() {
            writeln!(f, "  {why}")?;
        }
        for (name, stage) in [
            ("before", self.before()),
            ("overload", self.during()),
            ("after", self.after()),
        ] {
            writeln!(f, "  {name:<9} {stage}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quantile = |q| match self.quantile_ns(q) {
            Some(ns) => Ns(ns as f64).to_string(),
            None => "-".to_owned(),
        };
        write!(
            f,
            "{}/s came, {}/s were served (p50 {}, p99 {})",
            Short(self.offered()),
            Short(self.achieved()),
            quantile(Quantile::P50),
            quantile(Quantile::P99),
        )?;
        for (outcome, n) in self.outcomes() {
            if *outcome == Outcome::Ok {
                continue;
            }
            let share = Percent(*n as f64 / self.arrivals().max(1) as f64);
            write!(f, ", {share} {}", outcome.name())?;
            if let Some(class) = outcome.class() {
                write!(f, " ({class})")?;
            }
        }
        for (name, n) in self.counts() {
            write!(f, ", {n} {name}")?;
        }
        Ok(())
    }
}
