//! Evenly spaced arrivals.

use super::Process;
use crate::OpTime;

/// Points 0, 1, 2, …: at a constant rate λ, arrivals at exactly k/λ.
///
/// Computed, not accumulated, so they do not drift: at 700 000/s arrival 420 000 000 is due at exactly 600 s.
/// The first arrival is at the very start of the first piece with a rate above zero (or rising from it).
#[derive(Clone, Debug, Default)]
pub struct Constant {
    next: u64,
}

impl Constant {
    /// Starts at point 0.
    #[must_use]
    pub const fn new() -> Self {
        Constant { next: 0 }
    }
}

impl Process for Constant {
    #[inline]
    fn next_point(&mut self) -> Option<OpTime> {
        let point = OpTime::from_arrivals(self.next);
        self.next = self.next.checked_add(1)?;
        Some(point)
    }
}
