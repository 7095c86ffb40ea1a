//! What a sweep says of the service behind it: why its tail is long, and which queue it behaves like.
//!
//! ```
//! use openloop_experiment::diagnosis::Model;
//! use openloop_experiment::simulate::{Station, simulate};
//! use openloop_experiment::sweep::Sweep;
//! use openloop_experiment::{Floor, Lifecycle, Plan};
//! use openloop_sched::Rate;
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let service = Station::new(8, "exponential:0.020".parse()?)?;
//! let base = Plan::open(Rate::per_second(1.0)?)
//!     .lifecycle(Lifecycle { steady: Duration::from_secs(60), ..Lifecycle::quick() });
//! let mut trial = async |plan: &Plan| simulate(plan, service.clone());
//! let floor = Floor::measure(base.clone(), &mut trial).await?;
//! let shares = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.2];
//! let sweep = Sweep::fractions(Rate::per_second(400.0)?, shares).floor(floor);
//! let diagnosis = sweep.run(&base, &mut trial).await?.diagnose();
//! // Eight, as far as the floor is exact: of 1000 exponential requests it is to within a few percent.
//! let Model::Workers { servers: 7..=9 } = diagnosis.model else {
//!     panic!("{diagnosis}");
//! };
//! # Ok(())
//! # }
//! ```
//!
//! A diagnosis is read from response times alone, so it is never more than what the service *behaves like*; it says on
//! what evidence, and what speaks against it. [`Model::Unsure`] is a good answer: it costs another measurement, where a
//! wrong one costs a wrong size.

mod clusters;
mod model;
mod queue;
mod systems;
mod tail;

pub use model::Model;
pub use systems::{SYSTEMS, System};
pub use tail::Tail;

use crate::series::Metric;
use crate::sweep::Curve;
use std::fmt;

/// What a sweep says of the service behind it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Why its tail is long.
    pub tail: Tail,
    /// Which queue it behaves like.
    pub model: Model,
    /// What speaks for it, with figures.
    pub evidence: Vec<String>,
    /// What speaks against it, or is missing.
    pub doubts: Vec<String>,
}

impl Diagnosis {
    /// The systems that are known to behave like the model.
    pub fn systems(&self) -> impl Iterator<Item = &'static System> + use<> {
        let model = self.model;
        SYSTEMS.iter().filter(move |system| system.is_like(model))
    }
}

impl Curve {
    /// What the curve says of the service behind it.
    ///
    /// It needs the [floor](crate::sweep::Sweep::floor), a few rates under a third of the highest, a few above, and one
    /// at which the service is saturated. What is missing stands among the doubts.
    #[must_use]
    pub fn diagnose(&self) -> Diagnosis {
        let mut notes = Notes::default();
        let tail = tail::of(self, &mut notes);
        let model = match tail {
            Tail::Pauses { .. } => Model::Pauses,
            Tail::Smooth | Tail::OfService | Tail::Unsure => queue::of(self, &mut notes),
        };
        Diagnosis {
            tail,
            model,
            evidence: notes.evidence,
            doubts: notes.doubts,
        }
    }

    /// S in seconds, with the round trip in it: of the floor, or for want of one of the lowest rate.
    fn service(&self, notes: &mut Notes) -> Option<f64> {
        if let Some(level) = self
            .floor()
            .and_then(|floor| floor.level(None, &Metric::Response))
        {
            return Some(level.mean_ns / 1e9);
        }
        let lowest = self.stable().next()?;
        let mean = lowest.mean().filter(|mean| !mean.at_least)?.ns / 1e9;
        notes.doubts.push(
            "no floor was measured: the mean response at the lowest rate stands for it".to_owned(),
        );
        Some(mean)
    }
}

/// What speaks for something, and what against.
#[derive(Debug, Default)]
struct Notes {
    evidence: Vec<String>,
    doubts: Vec<String>,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "behaves like: {}", self.model)?;
        writeln!(f, "its tail:     {}", self.tail)?;
        for evidence in &self.evidence {
            writeln!(f, "  for:   {evidence}")?;
        }
        for doubt in &self.doubts {
            writeln!(f, "  doubt: {doubt}")?;
        }
        for system in self.systems() {
            writeln!(
                f,
                "  such as {}: {} fails first",
                system.examples, system.first_failure
            )?;
        }
        Ok(())
    }
}
