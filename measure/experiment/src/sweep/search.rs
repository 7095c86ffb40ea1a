//! Which rate to try next.

use super::point::Point;
use super::rule::Rule;
use crate::slo::Verdict;
use std::time::Duration;

/// Of the resolution, the share that is left between the rate that is kept and the next that is not.
const BRACKET: f64 = 0.25;

/// Of the resolution, the share that the confidence interval may take on either side.
const WIDTH: f64 = 0.33;

/// Runs at one rate that may not be believed, before it is given up.
const INVALID: usize = 2;

/// Runs that may be believed at one rate; more are not worth their ramp-up.
const RUNS: usize = 5;

/// Runs of a search altogether.
const MOST: usize = 100;

/// A search for the highest rate at which a rule is kept: upwards by a factor until the service is saturated, and then
/// by halves. What is not clear is measured for longer.
#[derive(Clone, Debug)]
pub(super) struct Search<'a> {
    pub(super) rule: &'a Rule,
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

impl Search<'_> {
    /// Which run to make after those of `points`, which are in order of their rates; `None` at the end.
    pub(super) fn next(&self, points: &[Point]) -> Option<Next> {
        let runs: usize = points.iter().map(|point| point.runs().len()).sum();
        if runs >= MOST {
            return None;
        }
        let (Some(lowest), Some(top)) = (points.first(), points.last()) else {
            return self.at(self.from);
        };
        let width = self.width(points);
        let rate = |point: &Point| point.asked().as_per_second();
        let states: Vec<_> = points
            .iter()
            .map(|point| self.state(point, width))
            .collect();
        // Without a rate that is kept there is nothing to begin with.
        match states.first()? {
            State::Open(steady) => return self.again(rate(lowest), *steady),
            State::Broken | State::Invalid => return None,
            State::Kept => {}
        }
        if !top.is_valid() && states.last() != Some(&State::Invalid) {
            return self.at(rate(top));
        }
        if top.is_valid() && !top.is_saturated() && rate(top) < self.to {
            return self.at((rate(top) * self.growth).min(self.to));
        }
        let is_end = |state: &State| matches!(state, State::Broken | State::Invalid);
        let end = states.iter().position(is_end).unwrap_or(points.len());
        let kept = states[..end]
            .iter()
            .rposition(|state| *state == State::Kept)?;
        for at in kept + 1..end {
            if let State::Open(steady) = states[at] {
                return self.again(rate(&points[at]), steady);
            }
        }
        let best = &points[kept];
        if let Some(broken) = points.get(end) {
            let (low, high) = (rate(best), rate(broken));
            if 1.0 - low / high > BRACKET * self.resolution {
                return self.at(f64::midpoint(low, high));
            }
        }
        // The answer stands on data as good as they were asked for.
        let more = self.more(best, width)?;
        self.again(rate(best), more)
    }

    fn at(&self, rate: f64) -> Option<Next> {
        Some(Next {
            rate,
            steady: self.steady,
        })
    }

    fn again(&self, rate: f64, steady: Duration) -> Option<Next> {
        Some(Next { rate, steady })
    }

    /// `width`: how wide an interval may be on either side, relative to its middle.
    fn state(&self, point: &Point, width: f64) -> State {
        if !point.is_valid() {
            return match point.runs().len() {
                runs if runs >= INVALID => State::Invalid,
                _ => State::Open(self.steady),
            };
        }
        // One run in a hundred seems to grow by chance.
        let runs = point.believed().count();
        if point.growth().is_some() && !point.is_saturated() && runs < 2 {
            return State::Open(self.steady);
        }
        let opinion = self.rule.judge(point);
        match opinion.verdict {
            Verdict::Pass => State::Kept,
            Verdict::Inconclusive => self.more(point, width).map_or(State::Broken, State::Open),
            Verdict::Fail | Verdict::Infeasible | Verdict::Invalid => State::Broken,
        }
    }

    /// How much more is to be measured at a rate for an interval of that width; `None` where it is narrow enough, or the
    /// limits on what is measured at one rate are reached.
    fn more(&self, point: &Point, width: f64) -> Option<Duration> {
        let have = point.steady();
        let left = self.longest.checked_sub(have)?;
        if point.believed().count() >= RUNS || left < self.steady {
            return None;
        }
        let opinion = self.rule.judge(point);
        let factor = match opinion.tightest() {
            // Within the bound, and still not kept: there are too few excursions above it.
            Some((share, half))
                if opinion.verdict == Verdict::Inconclusive && share * (1.0 + half) <= 1.0 =>
            {
                2.0
            }
            Some((_, half)) if half <= width => return None,
            // Far below the limit it need not be known better.
            Some((share, half))
                if opinion.verdict == Verdict::Pass && share * (1.0 + 2.0 * half) <= 1.0 =>
            {
                return None;
            }
            Some((_, half)) => (half / width).powi(2),
            None => 2.0,
        };
        let more = have.mul_f64((factor - 1.0).clamp(0.0, 1e3));
        Some(more.clamp(self.steady, left))
    }

    /// How wide the interval of a statistic may be for that of the rate to be as narrow as the resolution asks for: a
    /// statistic that grows as the e-th power of the rate tells a rate e times as well.
    fn width(&self, points: &[Point]) -> f64 {
        let mut known = points
            .iter()
            .filter(|point| point.is_valid() && !point.is_saturated())
            .filter_map(|point| {
                let (share, _) = self.rule.judge(point).tightest()?;
                Some((point.asked().as_per_second(), share))
            });
        let (mut below, mut above): (Option<(f64, f64)>, Option<(f64, f64)>) = (None, None);
        for (rate, share) in known.by_ref() {
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
