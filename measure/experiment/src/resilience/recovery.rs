//! How long until all is as before.

use super::{AFTER, BEFORE};
use crate::Run;
use openloop_measurer::{SLICES, Slice, WINDOWS};
use std::time::Duration;

/// The run is looked at in so many moments: ten in each of the parts but two.
const MOMENTS: usize = 120;

/// All is as before if it is so for so many moments.
const LASTS: usize = 3;

/// A mean response is as before up to the largest one before, or so many times their mean.
const AS_BEFORE: f64 = 1.5;

/// A share of unserved arrivals is as before up to this much more.
const MORE: f64 = 0.005;

/// What became of the arrivals of one moment.
#[derive(Clone, Copy, Debug)]
struct Moment {
    mean_ns: f64,
    not_ok: f64,
}

/// From the end of the overload to the first moment whose arrivals fare as those before it did, with the next two; and how
/// long a moment is.
pub(super) fn of(run: &Run) -> (Option<Duration>, Duration) {
    let length = run.snapshot().layout().steady().length();
    let moment = length / MOMENTS as u32;
    let moments: Vec<Option<Moment>> = run
        .snapshot()
        .course()
        .slices()
        .chunks(SLICES / MOMENTS)
        .map(Moment::of)
        .collect();
    let of_parts = |parts: std::ops::Range<usize>| {
        let each = MOMENTS / WINDOWS;
        moments
            .get(parts.start * each..parts.end * each)
            .unwrap_or(&[])
    };
    let before: Vec<Moment> = of_parts(BEFORE).iter().flatten().copied().collect();
    if before.is_empty() {
        return (None, moment);
    }
    let mean = before.iter().map(|moment| moment.mean_ns).sum::<f64>() / before.len() as f64;
    let largest = before
        .iter()
        .map(|moment| moment.mean_ns)
        .fold(0.0, f64::max);
    let not_ok = before
        .iter()
        .map(|moment| moment.not_ok)
        .fold(0.0, f64::max);
    let is_as_before = |moment: &Option<Moment>| {
        // A moment without arrivals says nothing against it.
        moment.is_none_or(|moment| {
            moment.mean_ns <= largest.max(AS_BEFORE * mean) && moment.not_ok <= not_ok + MORE
        })
    };
    let after: Vec<bool> = of_parts(AFTER).iter().map(is_as_before).collect();
    let first = after
        .windows(LASTS)
        .position(|moments| moments.iter().all(|is_so| *is_so));
    (first.map(|moments| moment * moments as u32), moment)
}

impl Moment {
    fn of(slices: &[Slice]) -> Option<Self> {
        let arrivals: u64 = slices.iter().map(|slice| slice.arrivals).sum();
        let response: u128 = slices.iter().map(|slice| slice.response_ns).sum();
        let not_ok: u64 = slices.iter().map(|slice| slice.not_ok).sum();
        (arrivals > 0).then(|| Moment {
            mean_ns: response as f64 / arrivals as f64,
            not_ok: not_ok as f64 / arrivals as f64,
        })
    }
}
