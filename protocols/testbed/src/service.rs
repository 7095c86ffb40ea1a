//! How long a request takes in a worker.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// The service time of each request, as a pure function of its sequence number.
///
/// The number is the value of the request's [sequence header](crate::SEQUENCE_HEADER), or, without
/// one, how many requests the server had read before. So the same request takes the same time,
/// whichever connection carries it and whatever came before.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use openloop_testbed::Service;
///
/// let service = Service::exponential(Duration::from_millis(1), 7);
/// assert_eq!(service.time(3), service.time(3));
///
/// let slow_tenth = Service::from_fn(|seq| Duration::from_millis(if seq % 10 == 0 { 20 } else { 1 }));
/// assert_eq!(slow_tenth.time(10), Duration::from_millis(20));
/// ```
#[derive(Clone)]
pub struct Service(Kind);

#[derive(Clone)]
enum Kind {
    Instant,
    Fixed(Duration),
    Exponential {
        mean: Duration,
        seed: u64,
    },
    Bimodal {
        fast: Duration,
        slow: Duration,
        share: f64,
        seed: u64,
    },
    Function(Arc<dyn Fn(u64) -> Duration + Send + Sync>),
}

impl Service {
    /// No time at all: the answer is written as soon as the request has been read.
    #[must_use]
    pub const fn instant() -> Self {
        Self(Kind::Instant)
    }

    /// The same time for every request.
    #[must_use]
    pub const fn fixed(time: Duration) -> Self {
        Self(Kind::Fixed(time))
    }

    /// Exponential times: −mean · ln(1 − u), with u of (seed, sequence number) uniform in [0, 1).
    #[must_use]
    pub const fn exponential(mean: Duration, seed: u64) -> Self {
        Self(Kind::Exponential { mean, seed })
    }

    /// `slow` with probability `share`, else `fast`; a share outside [0, 1] means always or never.
    #[must_use]
    pub const fn bimodal(fast: Duration, slow: Duration, share: f64, seed: u64) -> Self {
        Self(Kind::Bimodal {
            fast,
            slow,
            share,
            seed,
        })
    }

    /// Any function of the sequence number.
    pub fn from_fn(time: impl Fn(u64) -> Duration + Send + Sync + 'static) -> Self {
        Self(Kind::Function(Arc::new(time)))
    }

    /// The service time of the request with this sequence number.
    #[must_use]
    pub fn time(&self, seq: u64) -> Duration {
        match &self.0 {
            Kind::Instant => Duration::ZERO,
            Kind::Fixed(time) => *time,
            Kind::Exponential { mean, seed } => {
                let factor = -libm::log1p(-uniform(*seed, seq));
                mean.mul_f64(factor)
            }
            Kind::Bimodal {
                fast,
                slow,
                share,
                seed,
            } => {
                if uniform(*seed, seq) < *share {
                    *slow
                } else {
                    *fast
                }
            }
            Kind::Function(time) => time(seq),
        }
    }
}

/// A value in [0, 1) that depends on nothing but its two arguments: 53 bits of the second output of
/// SplitMix64, its state being the seed and the number mixed.
pub(crate) fn uniform(seed: u64, seq: u64) -> f64 {
    let stream = SplitMix64::seed_from_u64(seed).next_u64();
    let bits =
        SplitMix64::seed_from_u64(stream ^ seq.wrapping_mul(0x9E37_79B9_7F4A_7C15)).next_u64();
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    let value = (bits >> 11) as f64;
    value / (1_u64 << 53) as f64
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Instant => f.write_str("Instant"),
            Kind::Fixed(time) => f.debug_tuple("Fixed").field(time).finish(),
            Kind::Exponential { mean, seed } => f
                .debug_struct("Exponential")
                .field("mean", mean)
                .field("seed", seed)
                .finish(),
            Kind::Bimodal {
                fast,
                slow,
                share,
                seed,
            } => f
                .debug_struct("Bimodal")
                .field("fast", fast)
                .field("slow", slow)
                .field("share", share)
                .field("seed", seed)
                .finish(),
            Kind::Function(_) => f.write_str("Function"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u32 = 200_000;

    fn moments(service: &Service) -> (f64, f64) {
        let (mut sum, mut squares) = (0.0, 0.0);
        for seq in 0..u64::from(N) {
            let time = service.time(seq).as_secs_f64();
            sum += time;
            squares += time * time;
        }
        let mean = sum / f64::from(N);
        (mean, (squares / f64::from(N) - mean * mean).sqrt() / mean)
    }

    #[test]
    fn exponential_times_have_their_mean_and_a_coefficient_of_variation_of_one() {
        let (mean, variation) = moments(&Service::exponential(Duration::from_millis(1), 1));
        // Four standard errors: 4/√n of the mean, 4·√2/√n of the C_v.
        assert!((mean / 1e-3 - 1.0).abs() < 4.0 / f64::from(N).sqrt());
        assert!((variation - 1.0).abs() < 6.0 / f64::from(N).sqrt());
    }

    #[test]
    fn neighbours_in_sequence_are_not_correlated() {
        let pairs =
            (0..u64::from(N)).map(|seq| (uniform(9, seq) - 0.5) * (uniform(9, seq + 1) - 0.5));
        let correlation = 12.0 * pairs.sum::<f64>() / f64::from(N);
        assert!(correlation.abs() < 4.0 / f64::from(N).sqrt());
    }

    #[test]
    fn the_slow_share_of_a_bimodal_service_is_what_was_asked() {
        let service = Service::bimodal(Duration::from_millis(1), Duration::from_millis(50), 0.1, 3);
        let slow = (0..u64::from(N))
            .filter(|&seq| service.time(seq) > Duration::from_millis(1))
            .count();
        let expected = 0.1 * f64::from(N);
        assert!((slow as f64 - expected).abs() < 4.0 * (expected * 0.9).sqrt());
    }

    #[test]
    fn other_seeds_give_other_times_and_the_same_seed_the_same() {
        let of = |seed| Service::exponential(Duration::from_millis(1), seed).time(42);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_eq!(
            of(1),
            Duration::from_nanos(662_102),
            "a value that must never change"
        );
    }
}
