//! The law itself.

use crate::{CapacityError, check};

/// The universal scalability law.
///
/// | symbol | meaning |
/// | --- | --- |
/// | X(N) = γ N / (1 + σ (N − 1) + κ N (N − 1)) | throughput, per second |
/// | N ≥ 1 | load: users of a closed loop, requests in flight, threads or nodes; **not** arrivals per second |
/// | γ | throughput at N = 1 |
/// | σ | contention: the share of the work that is done one after the other (Amdahl) |
/// | κ | coherence: what each pair costs in talking to each other; above 0 the throughput falls again |
/// | N* = √((1 − σ)/κ) | the load of the highest throughput |
///
/// N. J. Gunther, *Guerrilla Capacity Planning* (2007). A description and not a mechanism: far beyond the loads that
/// were measured it is a guess. In an open loop N is the number in flight, by Little's law rate times response.
///
/// ```
/// use openloop_capacity::usl::Usl;
///
/// let curve = Usl::new(1000.0, 0.03, 0.0001)?;
/// assert_eq!(curve.throughput(1.0)?, 1000.0);
/// let peak = curve.peak_load().unwrap();
/// assert!((peak - 98.5).abs() < 0.05);
/// assert!(curve.throughput(2.0 * peak)? < curve.throughput(peak)?);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    single: f64,
    contention: f64,
    coherence: f64,
}

impl Usl {
    /// The curve of γ, `single` (per second), σ, `contention`, and κ, `coherence`.
    ///
    /// # Errors
    /// When `single` is not in the range of 10⁻³⁰ to 10³⁰, `contention` not from 0 to 1, or `coherence` neither 0 nor
    /// in that range.
    pub fn new(single: f64, contention: f64, coherence: f64) -> Result<Self, CapacityError> {
        Ok(Usl {
            single: check::positive("the throughput at a load of 1", single)?,
            contention: check::within(
                "the contention",
                contention,
                0.0..=1.0,
                "a share from 0 to 1",
            )?,
            coherence: check::not_negative("the coherence", coherence)?,
        })
    }

    /// A curve of parameters that are in their ranges but for rounding.
    pub(super) fn of_fit(single: f64, contention: f64, coherence: f64) -> Self {
        Usl {
            single,
            contention: contention.clamp(0.0, 1.0),
            coherence: coherence.max(0.0),
        }
    }

    /// γ, the throughput at N = 1, per second.
    #[must_use]
    pub const fn single(&self) -> f64 {
        self.single
    }

    /// σ.
    #[must_use]
    pub const fn contention(&self) -> f64 {
        self.contention
    }

    /// κ.
    #[must_use]
    pub const fn coherence(&self) -> f64 {
        self.coherence
    }

    /// X(N), the throughput per second at the load `load`.
    ///
    /// # Errors
    /// When `load` is not from 1 to 10³⁰.
    pub fn throughput(&self, load: f64) -> Result<f64, CapacityError> {
        check_load(load).map(|load| self.at(load))
    }

    pub(super) fn at(&self, load: f64) -> f64 {
        let others = load - 1.0;
        // Divided by N above and below, so that a large one does not overflow.
        self.single / (1.0 / load + self.contention * (others / load) + self.coherence * others)
    }

    /// N*, the load of the highest throughput: 1 where every more is a loss, and `None` where κ = 0 and it never falls.
    #[must_use]
    pub fn peak_load(&self) -> Option<f64> {
        (self.coherence > 0.0)
            .then(|| f64::max(((1.0 - self.contention) / self.coherence).sqrt(), 1.0))
    }

    /// The highest throughput per second, approached but not reached where κ = 0; `None` where there is no highest
    /// (σ = κ = 0).
    #[must_use]
    pub fn highest_throughput(&self) -> Option<f64> {
        match self.peak_load() {
            Some(load) => Some(self.at(load)),
            None => (self.contention > 0.0).then(|| self.single / self.contention),
        }
    }
}

pub(super) fn check_load(load: f64) -> Result<f64, CapacityError> {
    check::within(
        "the load",
        load,
        1.0..=1e30,
        "a number from 1 to 1e30; below 1 nothing contends, and the law says nothing",
    )
}
