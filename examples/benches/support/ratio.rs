//! How many times as much the one has as the other.

use super::Result;
use super::statistics::median;
use std::fmt;

/// A tail of this probability on either side: 95 % lie between.
const TAIL: f64 = 0.025;

/// The median of what the rounds say, each of them a pair of runs one after the other: a machine that slows down slows both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    rounds: usize,
    /// Where the median of many more rounds would lie, by 95 %; nothing is asked of their distribution.
    within: Option<(f64, f64)>,
}

impl Ratio {
    /// Of each of `ours` to its own of `theirs`.
    pub(crate) fn of<T>(ours: &[T], theirs: &[T], figure: impl Fn(&T) -> f64) -> Self {
        let pairs = ours.iter().zip(theirs);
        let mut ratios: Vec<f64> = pairs.map(|(a, b)| figure(a) / figure(b)).collect();
        ratios.sort_by(f64::total_cmp);
        let out = left_out(ratios.len());
        Ratio {
            median: median(ratios.iter().copied()),
            rounds: ratios.len(),
            within: out.map(|out| (ratios[out], ratios[ratios.len() - 1 - out])),
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ", self.median)?;
        match self.within {
            Some((low, high)) => write!(f, "(95 %: {low:.3} to {high:.3})"),
            None => write!(f, "({} rounds, and 6 have an interval)", self.rounds),
        }
    }
}

/// Ours and theirs in one round. Each goes first in turn: what comes after another program meets a machine that is warm.
pub(crate) fn by_turns<T>(
    round: u64,
    ours: impl FnOnce() -> Result<T>,
    theirs: impl FnOnce() -> Result<T>,
) -> Result<(T, T)> {
    if round % 2 == 1 {
        let ours = ours()?;
        return Ok((ours, theirs()?));
    }
    let theirs = theirs()?;
    Ok((ours()?, theirs))
}

/// How many of `n` values on either side the interval of their median leaves out: each lies below the median or above
/// it like the toss of a coin. `None` where even the least and the greatest are too close.
fn left_out(n: usize) -> Option<usize> {
    // Just so many heads in n tosses, and that many at most.
    let mut exactly = 0.5_f64.powf(n as f64);
    let mut at_most = exactly;
    let mut heads = 0;
    while at_most <= TAIL {
        heads += 1;
        exactly *= (n + 1 - heads) as f64 / heads as f64;
        at_most += exactly;
    }
    heads.checked_sub(1)
}
