//! Which rate to try next.

use super::capacity::PerSecond;
use super::point::Point;
use crate::slo::{Certainty, Judgement, Verdict};
use std::time::Duration;

/// Of the resolution, the share that is left between the rate that is kept and the next that is not.
const BRACKET: f64 = 0.25;

/// Of the resolution, the share that the distance to the upper confidence limit may take.
const WIDTH: f64 = 0.5;

/// Runs at one rate that may not be believed, before it is given up.
const INVALID: usize = 2;

/// Runs that may be believed at one rate: from the next on intervals would be across runs, and these differ in length.
const RUNS: usize = 4;

/// Runs of a search altogether.
const MOST: usize = 100;

/// A search for the highest rate at which an objective is kept: upwards by a factor until the service is saturated, and
/// then by halves. What is not clear is measured for longer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) growth: f64,
    pub(super) resolution: f64,
    /// How long a step is measured at first.
    pub(super) steady: Duration,
    /// How long in all, at most.
    pub(super) longest: Duration,
}

/// A run to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Next {
    pub(super) rate: f64,
    pub(super) steady: Duration,
}

/// A rate that was tried, and what its runs say of the objective.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) point: Point,
    pub(super) judgement: Judgement,
    pub(super) certainty: Certainty,
}

/// What is known of a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Kept,
    /// Broken, or as good as: longer measurements would not tell.
    Broken,
    /// Not clear before so much more is measured.
    Open(Duration),
    /// The runs may not be believed.
    Invalid,
}

impl Tried {
    fn rate(&self) -> f64 {
        self.point.per_second()
    }

    fn is_kept(&self) -> bool {
        self.judgement.verdict == Verdict::Pass && self.certainty.is_kept()
    }
}

impl Search {
    /// Which run to make after those that were `tried`, in order of their rates; `None` at the end.
    pub(super) fn next(&self, tried: &[Tried]) -> Option<Next> {
        let first = |rate| Next {
            rate,
            steady: self.steady,
        };
        let runs = |tried: &Tried| tried.point.runs().len() + tried.point.dismissed().len();
        if tried.iter().map(runs).sum::<usize>() >= MOST {
            return None;
        }
        let (Some(lowest), Some(top)) = (tried.first(), tried.last()) else {
            return Some(first(self.from));
        };
        let again = |tried: &Tried, steady| Next {
            rate: tried.rate(),
            steady,
        };
        let width = self.width(tried);
        let states: Vec<_> = tried.iter().map(|tried| self.state(tried, width)).collect();
        // Without a rate that is kept there is nothing to begin with.
        match states.first()? {
            State::Open(steady) => return Some(again(lowest, *steady)),
            State::Broken | State::Invalid => return None,
            State::Kept => {}
        }
        if let (false, Some(State::Open(steady))) = (top.point.is_valid(), states.last()) {
            return Some(again(top, *steady));
        }
        if top.point.is_valid() && !top.point.is_saturated() && top.rate() < self.to {
            return Some(first((top.rate() * self.growth).min(self.to)));
        }
        let is_end = |state: &State| matches!(state, State::Broken | State::Invalid);
        let end = states.iter().position(is_end).unwrap_or(tried.len());
        let kept = states[..end]
            .iter()
            .rposition(|state| *state == State::Kept)?;
        for at in kept + 1..end {
            if let State::Open(steady) = states[at] {
                return Some(again(&tried[at], steady));
            }
        }
        let best = &tried[kept];
        if let Some(broken) = tried.get(end)
            && 1.0 - best.rate() / broken.rate() > BRACKET * self.resolution
        {
            return Some(first(f64::midpoint(best.rate(), broken.rate())));
        }
        // The answer stands on data as good as they were asked for.
        Some(again(best, self.more(best, width)?))
    }

    /// `width`: how wide an interval may be on either side, relative to its middle.
    fn state(&self, tried: &Tried, width: f64) -> State {
        let point = &tried.point;
        if !point.is_valid() {
            return match point.dismissed().len() {
                runs if runs >= INVALID => State::Invalid,
                _ => State::Open(self.steady),
            };
        }
        match tried.judgement.verdict {
            _ if tried.is_kept() => State::Kept,
            Verdict::Pass | Verdict::Inconclusive => {
                self.more(tried, width).map_or(State::Broken, State::Open)
            }
            Verdict::Fail | Verdict::Infeasible | Verdict::Invalid => State::Broken,
        }
    }

    /// How much more is to be measured at a rate for an interval of that width; `None` where it is narrow enough, or the
    /// limits on what is measured at one rate are reached.
    fn more(&self, tried: &Tried, width: f64) -> Option<Duration> {
        let point = &tried.point;
        let have = point.steady();
        let left = self.longest.checked_sub(have)?;
        if point.runs().len() >= RUNS || left < self.steady {
            return None;
        }
        let more = have.mul_f64((self.factor(tried, width)? - 1.0).clamp(0.0, 1e3));
        Some(more.clamp(self.steady, left))
    }

    /// How many times as long a rate would have to be measured; `None` where it is known well enough, or no length tells.
    fn factor(&self, tried: &Tried, width: f64) -> Option<f64> {
        let is_kept = tried.is_kept();
        match tried.certainty.tightest() {
            None => Some(2.0),
            // Too short to tell anything.
            Some(margin) if margin.by_chance.is_infinite() => Some(4.0),
            Some(margin) if !is_kept && margin.is_left_open_by_floor() => None,
            // Within the bound, and still not kept: there are too few excursions above it.
            Some(margin) if margin.by_chance <= width => {
                (!is_kept && margin.at_most() <= 1.0).then_some(2.0)
            }
            // Far below the limit it need not be known better.
            Some(margin) if is_kept && margin.share * (2.0 * margin.by_chance).exp() <= 1.0 => None,
            Some(margin) => Some((margin.by_chance / width).powi(2)),
        }
    }

    /// What kept the search from being as exact as it was asked to be: rates above the answer at which the objective may
    /// be kept, and could not be measured long enough to tell.
    pub(super) fn remarks(&self, tried: &[Tried]) -> Vec<String> {
        let width = self.width(tried);
        let of = |tried: &Tried| {
            let is_open = matches!(
                tried.judgement.verdict,
                Verdict::Pass | Verdict::Inconclusive
            );
            if !tried.point.is_valid() || tried.is_kept() || !is_open {
                return None;
            }
            let (rate, have) = (PerSecond(tried.rate()), tried.point.steady());
            let margin = tried.certainty.tightest();
            if margin.is_some_and(|margin| margin.share <= 1.0 && margin.is_left_open_by_floor()) {
                return Some(format!(
                    "at {rate} the objective may be kept, but the floor is not known well enough to tell: measure it with more requests"
                ));
            }
            let needed = have.mul_f64(self.factor(tried, width)?.min(1e3));
            (needed > self.longest).then(|| {
                format!(
                    "at {rate} the objective may be kept, but {:.0} s of measuring do not tell: {} {:.0} s would, so allow for that (longest)",
                    have.as_secs_f64(),
                    if margin.is_some_and(|margin| margin.by_chance.is_infinite()) { "more than" } else { "about" },
                    needed.as_secs_f64()
                )
            })
        };
        tried.iter().filter_map(of).take(2).collect()
    }

    /// How wide the interval of a statistic may be for that of the rate to be as narrow as the resolution asks for: a
    /// statistic that grows as the e-th power of the rate tells a rate e times as well.
    fn width(&self, tried: &[Tried]) -> f64 {
        let known = tried
            .iter()
            .filter(|tried| tried.point.is_valid() && !tried.point.is_saturated())
            .filter_map(|tried| Some((tried.rate(), tried.certainty.tightest()?.share)));
        // The last that is well below the limit, and the first well above it or else the last of all.
        let (mut below, mut above) = (None, None);
        for (rate, share) in known {
            if share <= 0.8 {
                below = Some((rate, share));
            } else {
                above = Some((rate, share));
                if share >= 1.25 {
                    break;
                }
            }
        }
        let power = match (below, above) {
            (Some((r1, s1)), Some((r2, s2))) if r2 > 1.02 * r1 => (s2 / s1).ln() / (r2 / r1).ln(),
            _ => 2.0,
        };
        power.clamp(1.0, 10.0) * WIDTH * self.resolution
    }
}
