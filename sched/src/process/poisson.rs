//! Independent arrivals.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Process, unit_exponential};
use crate::OpTime;

/// A Poisson process: independent exponential gaps, what many independent users amount to.
///
/// Gaps come by inversion from Xoshiro256++, one 64-bit draw each (2049/2048 on average), and have no
/// largest value. The first point is a full gap after 0. Under a profile this is the inhomogeneous Poisson
/// process with that rate (Çinlar's time change).
#[derive(Clone, Debug)]
pub struct Poisson {
    rng: Xoshiro256PlusPlus,
    at: OpTime,
}

impl Poisson {
    /// Seeded as given: the schedule derives its own stream before it comes here.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Poisson {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            at: OpTime::ZERO,
        }
    }
}

impl Process for Poisson {
    #[inline]
    fn next_point(&mut self) -> Option<OpTime> {
        self.at = self.at.after(unit_exponential(&mut self.rng));
        Some(self.at)
    }
}
