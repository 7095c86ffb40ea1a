//! A trace in a few numbers.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Trace, TraceRequest};

/// A trace in a few numbers: how fast requests came, how unevenly, and how large they were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Description {
    /// How many requests.
    pub requests: u64,
    /// From the first to the last, in nanoseconds.
    pub duration_ns: u64,
    /// The mean rate, in requests per second: (n − 1)/duration, which is 1/mean gap. `None` for less than two
    /// instants.
    pub rate_per_second: Option<f64>,
    /// The coefficient of variation of the gaps, in order of time: 0 for a metronome, 1 for a Poisson process at a
    /// constant rate, more for bursts. `None` for less than two instants.
    pub gap_cv: Option<f64>,
    /// The share of all input tokens that a cache of whole blocks, never full, would have had: those of the leading
    /// blocks of a prompt that earlier prompts had. `None` without hash ids.
    pub repeated_input: Option<f64>,
    /// All requests.
    pub all: Lengths,
    /// The requests of each kind, where the trace tells kinds.
    pub kinds: BTreeMap<String, Lengths>,
}

/// How large requests are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Lengths {
    /// How many requests.
    pub requests: u64,
    /// Tokens of the prompts; `None` where the trace does not tell.
    pub input_tokens: Option<Spread>,
    /// Tokens of the answers; `None` where the trace does not tell.
    pub output_tokens: Option<Spread>,
    /// Sizes; `None` where the trace does not tell.
    pub size: Option<Spread>,
}

/// Whole numbers in a few: of at least one.
///
/// The quantile q of n values is the value of rank max(1, ⌈q·n⌉).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// All added.
    pub total: u128,
    /// total/count.
    pub mean: f64,
    /// The standard deviation over the mean, with n as the divisor; 0 where all are 0.
    pub cv: f64,
    /// The smallest.
    pub min: u64,
    /// The quantile 0.5.
    pub p50: u64,
    /// The quantile 0.99.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

impl Spread {
    /// Of these numbers; `None` where there are none.
    #[must_use]
    pub fn of(numbers: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut numbers: Vec<_> = numbers.into_iter().collect();
        numbers.sort_unstable();
        let (&min, &max) = (numbers.first()?, numbers.last()?);
        let total: u128 = numbers.iter().map(|&number| u128::from(number)).sum();
        let count = numbers.len();
        let mean = total as f64 / count as f64;
        let squares = numbers.iter().map(|&number| (number as f64 - mean).powi(2));
        let deviation = (squares.sum::<f64>() / count as f64).sqrt();
        // ⌈percent·n/100⌉ in whole numbers, counted from 0.
        let quantile = |percent: usize| numbers[(count * percent).div_ceil(100) - 1];
        Some(Spread {
            count: count as u64,
            total,
            mean,
            cv: if max == 0 { 0.0 } else { deviation / mean },
            min,
            p50: quantile(50),
            p99: quantile(99),
            max,
        })
    }
}

impl Lengths {
    fn of<'a>(requests: impl Iterator<Item = &'a TraceRequest> + Clone) -> Self {
        let spread = |number: fn(&TraceRequest) -> Option<u64>| {
            Spread::of(requests.clone().filter_map(number))
        };
        Lengths {
            requests: requests.clone().count() as u64,
            input_tokens: spread(|request| request.input_tokens),
            output_tokens: spread(|request| request.output_tokens),
            size: spread(|request| request.size),
        }
    }
}

impl Trace {
    /// The trace in a few numbers.
    ///
    /// ```
    /// use openloop_workload::traces::Trace;
    ///
    /// let trace = Trace::read("offset,kind\n0,a\n1,b\n2,a\n".as_bytes())?;
    /// let told = trace.describe();
    /// assert_eq!((told.rate_per_second, told.gap_cv), (Some(1.0), Some(0.0)));
    /// assert_eq!(told.kinds["a"].requests, 2);
    /// # Ok::<(), openloop_workload::traces::TraceError>(())
    /// ```
    #[must_use]
    pub fn describe(&self) -> Description {
        let in_order = self.in_order();
        let gaps = in_order.windows(2);
        let gaps = Spread::of(gaps.map(|pair| pair[1].offset_ns - pair[0].offset_ns));
        let gaps = gaps.filter(|gaps| gaps.total > 0);
        let mut kinds: BTreeMap<String, Vec<&TraceRequest>> = BTreeMap::new();
        for request in self.requests() {
            if let Some(kind) = &request.kind {
                kinds.entry(kind.to_string()).or_default().push(request);
            }
        }
        let of_kind = |(kind, requests): (String, Vec<&TraceRequest>)| {
            (kind, Lengths::of(requests.iter().copied()))
        };
        Description {
            requests: self.len() as u64,
            duration_ns: gaps.map_or(0, |gaps| gaps.total as u64),
            rate_per_second: gaps.map(|gaps| 1e9 / gaps.mean),
            gap_cv: gaps.map(|gaps| gaps.cv),
            repeated_input: self.repeated_input(&in_order),
            all: Lengths::of(self.requests().iter()),
            kinds: kinds.into_iter().map(of_kind).collect(),
        }
    }

    fn repeated_input(&self, in_order: &[&TraceRequest]) -> Option<f64> {
        let block = u64::from(self.format().block_tokens()?);
        let (mut seen, mut repeated, mut all) = (HashSet::<u64>::new(), 0_u128, 0_u128);
        for request in in_order {
            let input = request.input_tokens.unwrap_or_default();
            // The last block of a prompt is whole only by chance; a cache keeps whole ones.
            let whole = usize::try_from(input / block).unwrap_or(usize::MAX);
            let hits = (request.hash_ids.iter().take(whole)).take_while(|id| seen.contains(*id));
            repeated += hits.count() as u128 * u128::from(block);
            all += u128::from(input);
            seen.extend(&request.hash_ids);
        }
        (!seen.is_empty() && all > 0).then(|| repeated as f64 / all as f64)
    }
}

/// Some lines of text for a terminal.
impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.duration_ns as f64 / 1e9;
        write!(f, "{} in {seconds:.3} s", counted(self.requests))?;
        if let (Some(rate), Some(cv)) = (self.rate_per_second, self.gap_cv) {
            write!(f, ", {rate:.4}/s, C_v of the gaps {cv:.3}")?;
        }
        if let Some(share) = self.repeated_input {
            write!(f, ", {:.1} % of the input repeated", 100.0 * share)?;
        }
        self.all.lines(f)?;
        for (kind, lengths) in &self.kinds {
            write!(f, "\n{kind}: {}", counted(lengths.requests))?;
            lengths.lines(f)?;
        }
        Ok(())
    }
}

fn counted(requests: u64) -> String {
    format!("{requests} request{}", if requests == 1 { "" } else { "s" })
}

impl Lengths {
    fn lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spreads = [
            ("input tokens", self.input_tokens),
            ("output tokens", self.output_tokens),
            ("size", self.size),
        ];
        for (name, spread) in spreads {
            let Some(spread) = spread else { continue };
            let Spread { mean, cv, .. } = spread;
            let Spread { p50, p99, max, .. } = spread;
            write!(
                f,
                "\n  {name}: mean {mean:.1}, C_v {cv:.3}, p50 {p50}, p99 {p99}, max {max}"
            )?;
        }
        Ok(())
    }
}
