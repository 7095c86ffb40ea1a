//! Nodes for a peak.

use crate::{CapacityError, check};

/// The nodes that carry a peak, by two rules.
///
/// | symbol | meaning |
/// | --- | --- |
/// | ⌈λ_peak / λ_knee⌉ | by the knee: the rate of one node at which its tail departs from the floor |
/// | ⌈λ_peak / (0.75 λ_max)⌉ | by three quarters of the highest rate of one node |
///
/// The rules agree only where the knee lies at ρ = 0.75. The knee of a node with 32 workers behind one queue lies at
/// 0.99, and by it a cluster would have 24 % fewer nodes and nothing left for a burst; so the larger count is taken.
/// Both assume that a balancer keeps the nodes equally busy.
///
/// ```
/// use openloop_capacity::sizing::Nodes;
///
/// // 10 000/s at the peak; a node has its knee at 1400/s and gives out at 2000/s.
/// let nodes = Nodes::new(10_000.0, 1400.0, 2000.0)?;
/// assert_eq!((nodes.by_knee(), nodes.by_highest_rate()), (8, 7));
/// assert_eq!(nodes.needed(), 8);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nodes {
    by_knee: u64,
    by_highest_rate: u64,
}

impl Nodes {
    /// The utilisation at the peak that [`Nodes::by_highest_rate`] allows.
    pub const TARGET: f64 = 0.75;

    /// The nodes for `peak` arrivals per second, where one has its knee at `knee` per second and serves
    /// `highest_rate` per second at most.
    ///
    /// # Errors
    /// When a rate is not in the range of 10⁻³⁰ to 10³⁰, when the knee is above the highest rate, or when the count
    /// reaches 2⁵³.
    pub fn new(peak: f64, knee: f64, highest_rate: f64) -> Result<Self, CapacityError> {
        let peak = check::positive("the peak rate", peak)?;
        let knee = check::positive("the rate at the knee", knee)?;
        let highest = check::positive("the highest rate of a node", highest_rate)?;
        if highest < knee {
            return Err(CapacityError::Contradiction {
                larger: "the highest rate of a node",
                larger_value: highest,
                smaller: "the rate at its knee",
                smaller_value: knee,
                remedy: "take both from one sweep",
            });
        }
        Ok(Nodes {
            by_knee: Self::for_rate(peak, knee)?,
            by_highest_rate: Self::for_rate(peak, Self::TARGET * highest)?,
        })
    }

    /// The nodes that carry `peak` where each is given `each` at most.
    pub(crate) fn for_rate(peak: f64, each: f64) -> Result<u64, CapacityError> {
        check::whole("the number of nodes", peak / each)
    }

    /// ⌈λ_peak / λ_knee⌉.
    #[must_use]
    pub const fn by_knee(&self) -> u64 {
        self.by_knee
    }

    /// ⌈λ_peak / (0.75 λ_max)⌉.
    #[must_use]
    pub const fn by_highest_rate(&self) -> u64 {
        self.by_highest_rate
    }

    /// The larger of both.
    #[must_use]
    pub fn needed(&self) -> u64 {
        self.by_knee.max(self.by_highest_rate)
    }
}
