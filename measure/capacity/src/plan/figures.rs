//! What a plan is made from.

use crate::sizing::KvShape;

/// What was measured of one node, and what is to come: rates per second, times in seconds.
///
/// All but the peak may be unknown: the plan then says what it lacks, and what it would need for it.
///
/// ```
/// use openloop_capacity::plan::Figures;
///
/// let figures = Figures {
///     knee: Some(1400.0),
///     highest_rate: Some(2000.0),
///     service_p99: Some(0.040),
///     ..Figures::at_peak(10_000.0)
/// };
/// assert_eq!(figures.mean_response, None);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Figures {
    /// λ_peak, arrivals per second at the peak, of the whole service.
    pub peak: f64,
    /// λ_knee, the rate at which the tail of one node departs from its floor. Where a sweep has not reached it, the
    /// highest rate of the sweep is a cautious one.
    pub knee: Option<f64>,
    /// λ_max, the highest rate that one node serves.
    pub highest_rate: Option<f64>,
    /// S, the mean response of one node at next to no load, without the round trip.
    pub floor: Option<f64>,
    /// What of every response is the round trip to the node, where that is known.
    pub round_trip: Option<f64>,
    /// W, the mean response under the load of the peak: how long a request holds what it needs.
    pub mean_response: Option<f64>,
    /// P90 of the service, dispatch to completion, as a client sees it.
    pub service_p90: Option<f64>,
    /// P99 of the service. For a pool: from check-out to return, without the wait for the pool.
    pub service_p99: Option<f64>,
    /// P99.9 of the service.
    pub service_p99_9: Option<f64>,
    /// How long the server keeps a request in its queue before it drops it.
    pub retention: Option<f64>,
    /// Of a language model: what a sequence takes of its KV cache.
    pub kv: Option<KvFigures>,
}

impl Figures {
    /// A peak of so many arrivals per second, and nothing else known.
    #[must_use]
    pub const fn at_peak(peak: f64) -> Self {
        Figures {
            peak,
            knee: None,
            highest_rate: None,
            floor: None,
            round_trip: None,
            mean_response: None,
            service_p90: None,
            service_p99: None,
            service_p99_9: None,
            retention: None,
            kv: None,
        }
    }
}

/// What a sequence takes of the KV cache of a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KvFigures {
    /// What of the model decides how much it remembers per token.
    pub shape: KvShape,
    /// Tokens in a block.
    pub block_tokens: u32,
    /// Tokens that a sequence holds at its longest, prompt and output.
    pub sequence_tokens: u64,
    /// Bytes of one node that are left for the cache.
    pub bytes_per_node: Option<u64>,
}
