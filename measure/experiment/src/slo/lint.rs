//! Bounds that say little, or cannot be kept.

use super::bound::Statistic;
use super::objective::Term;
use crate::Floor;
use crate::floor::Ratio;
use crate::units::{Ns, Short};
use std::fmt;

/// Above this ratio a service is in the cliff: an exponential server is more than 90 % busy.
const CLIFF: f64 = 10.0;
/// Below this one a server that is half busy breaks the bound.
const HALF: f64 = 2.0;

/// What is questionable in a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Concern {
    /// The floor itself breaks it.
    Infeasible,
    /// The floor may break it: the data do not tell.
    AtTheFloor,
    /// A fixed time that a single server breaks when it is half busy.
    Tight,
    /// A service near collapse keeps it.
    Loose,
    /// The noise floor is far above the multiple.
    NoiseFloor,
}

/// A bound that says little, or cannot be kept, and why.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Lint {
    /// The bound, as it is written.
    pub bound: String,
    /// What is questionable.
    pub concern: Concern,
    /// Why, with the figures.
    pub why: String,
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.bound, self.why)
    }
}

pub(super) fn all(terms: &[Term<'_>], floor: &Floor) -> Vec<Lint> {
    terms.iter().filter_map(|term| of(term, floor)).collect()
}

fn of(term: &Term<'_>, floor: &Floor) -> Option<Lint> {
    let bound = term.bound;
    let limit = term.limit?;
    let (at_floor, _) = term.at_floor()?;
    let (kind, metric) = (bound.kind.as_deref(), &bound.metric);
    let unit = match bound.statistic {
        Statistic::Quantile(q) => {
            let ratio = floor.ratio(kind, metric).unwrap_or(Ratio::Literal);
            (floor.unit_ns(kind, metric, q, ratio)?, ratio)
        }
        _ => (floor.s_ns(kind, metric)?, Ratio::Literal),
    };
    let (unit, ratio) = unit;
    let times = (limit - floor.rtt_ns(metric)) / unit;
    let name = match ratio {
        Ratio::Literal => "S",
        Ratio::Inflation => "the floor's own",
    };
    let (limit_shown, unit_shown) = (Ns(limit), Ns(unit));
    let is_multiple = term.basis.is_some();
    let is_noise_floor = term.basis.is_some_and(|basis| basis.is_noise_floor);
    let (concern, why) = if term.broken_by_floor().is_some() {
        let why = format!(
            "physically impossible: an idle service takes {} already",
            Ns(at_floor)
        );
        (Concern::Infeasible, why)
    } else if at_floor > limit {
        let why = format!(
            "an idle service takes {}, give or take what the floor does not tell: measure the floor longer",
            Ns(at_floor)
        );
        (Concern::AtTheFloor, why)
    } else if is_noise_floor && times > CLIFF {
        let why = format!(
            "the noise floor of {limit_shown} is {} x {name} ({unit_shown}): the bound says nothing of the load",
            Short(times)
        );
        (Concern::NoiseFloor, why)
    } else if times > CLIFF {
        let why = format!(
            "{limit_shown} is {} x {name} ({unit_shown}): it would pass at ρ = {:.2} of one exponential server, on the verge of collapse",
            Short(times),
            1.0 - 1.0 / times
        );
        (Concern::Loose, why)
    } else if times < HALF && !is_multiple {
        let why = format!(
            "{limit_shown} with {name} = {unit_shown} is impossible at half load, where one exponential server takes {}",
            Ns(HALF * unit + floor.rtt_ns(metric))
        );
        (Concern::Tight, why)
    } else {
        return None;
    };
    Some(Lint {
        bound: bound.to_string(),
        concern,
        why,
    })
}
