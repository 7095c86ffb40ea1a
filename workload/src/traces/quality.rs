//! What is odd about a trace.

use serde::{Deserialize, Serialize};

use super::trace::LeftOut;
use super::{Trace, TraceRequest};

/// What is odd about a trace: look at it before the trace is replayed.
///
/// ```
/// use openloop_workload::traces::Trace;
///
/// let trace = Trace::read("offset\n0\n3\n2\n2\n".as_bytes())?;
/// let quality = trace.quality();
/// assert_eq!((quality.disorder, quality.ties), (1, 1));
/// assert_eq!(quality.first_disorder_line, Some(4));
/// # Ok::<(), openloop_workload::traces::TraceError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Quality {
    /// How many requests lie before the one ahead of them in the file.
    pub disorder: u64,
    /// The line of the first of these; 0 for a request that comes from no file.
    pub first_disorder_line: Option<u64>,
    /// The longest step back, in nanoseconds; 0 without disorder.
    pub longest_step_back_ns: u64,
    /// How many requests come in the same nanosecond as another before them. Where the clock of the recorder was
    /// coarse this is most of them: a replay then sends in bursts that no user ever sent.
    pub ties: u64,
    /// Gaps longer than [`Quality::GAP`] times the mean gap, in order of time.
    pub gaps: Vec<Gap>,
    /// How many timestamps had more digits than nanoseconds have, and were rounded to the nearest.
    pub rounded: u64,
    /// What the filters left out.
    pub left_out: LeftOut,
}

impl Quality {
    /// A gap is told when it is longer than so many mean gaps. Of a million independent arrivals at a constant rate
    /// one such gap is expected in 1 of 485 traces: 10⁶·e⁻²⁰ = 0.0021.
    pub const GAP: f64 = 20.0;
}

/// A time without requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Gap {
    /// The offset of the last request before it.
    pub from_ns: u64,
    /// How long it is.
    pub length_ns: u64,
    /// The line of the first request after it; 0 for a request that comes from no file.
    pub line: u64,
}

impl Trace {
    /// What is odd about the trace.
    #[must_use]
    pub fn quality(&self) -> Quality {
        let mut quality = Quality {
            rounded: self.rounded(),
            left_out: self.left_out(),
            gaps: self.gaps(Quality::GAP),
            ..Quality::default()
        };
        for pair in self.requests().windows(2) {
            let back = pair[0].offset_ns.saturating_sub(pair[1].offset_ns);
            if back > 0 {
                quality.disorder += 1;
                quality.first_disorder_line.get_or_insert(pair[1].line);
                quality.longest_step_back_ns = quality.longest_step_back_ns.max(back);
            }
        }
        let in_order = self.in_order();
        let ties = |pair: &&[&TraceRequest]| pair[0].offset_ns == pair[1].offset_ns;
        quality.ties = in_order.windows(2).filter(ties).count() as u64;
        quality
    }

    /// The gaps between requests, in order of time, that are longer than `factor` times the mean gap. Of a factor that
    /// is not a number there are none.
    #[must_use]
    pub fn gaps(&self, factor: f64) -> Vec<Gap> {
        let in_order = self.in_order();
        let (Some(first), Some(last)) = (in_order.first(), in_order.last()) else {
            return Vec::new();
        };
        let mean = (last.offset_ns - first.offset_ns) as f64 / (in_order.len() - 1).max(1) as f64;
        (in_order.windows(2))
            .map(|pair| Gap {
                from_ns: pair[0].offset_ns,
                length_ns: pair[1].offset_ns - pair[0].offset_ns,
                line: pair[1].line,
            })
            .filter(|gap| gap.length_ns as f64 > factor * mean)
            .collect()
    }

    /// The requests in order of time; those of one instant in the order of the file.
    pub(super) fn in_order(&self) -> Vec<&TraceRequest> {
        let mut in_order: Vec<_> = self.requests().iter().collect();
        in_order.sort_by_key(|request| request.offset_ns);
        in_order
    }
}
