//! The four phases of a run.

use openloop_measurer::{Layout, LayoutError, Phase};
use openloop_sched::{Profile, ProfileError, Rate};
use std::time::Duration;

/// How long each phase of a run lasts.
///
/// Ramp-up and warm-up load the service and are not in the result; nor is the cooldown, in which the rate falls to
/// zero before what is in flight is drained. A phase of length zero is left out; only the steady phase must be
/// there.
///
/// ```
/// use openloop_experiment::Lifecycle;
/// use std::time::Duration;
///
/// let lifecycle = Lifecycle { steady: Duration::from_secs(60), ..Lifecycle::quick() };
/// assert_eq!(lifecycle.total(), Duration::from_secs(63));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifecycle {
    /// The rate grows linearly from 0 to its target.
    pub ramp_up: Duration,
    /// The target rate, not measured.
    pub warm_up: Duration,
    /// The target rate, measured.
    pub steady: Duration,
    /// The rate falls linearly to 0.
    pub cooldown: Duration,
}

/// 30 s of ramp-up, 2 min of warm-up, 5 min of measurement, 30 s of cooldown: long enough for just-in-time
/// compilers, buffer pools and checkpoints.
impl Default for Lifecycle {
    fn default() -> Self {
        Lifecycle {
            ramp_up: Duration::from_secs(30),
            warm_up: Duration::from_secs(120),
            steady: Duration::from_secs(300),
            cooldown: Duration::from_secs(30),
        }
    }
}

impl Lifecycle {
    /// For test suites: 1 s of ramp-up, 1 s of warm-up, 10 s of measurement, 1 s of cooldown.
    #[must_use]
    pub const fn quick() -> Self {
        Lifecycle {
            ramp_up: Duration::from_secs(1),
            warm_up: Duration::from_secs(1),
            steady: Duration::from_secs(10),
            cooldown: Duration::from_secs(1),
        }
    }

    /// A measurement and nothing around it.
    #[must_use]
    pub const fn steady_only(steady: Duration) -> Self {
        Lifecycle {
            ramp_up: Duration::ZERO,
            warm_up: Duration::ZERO,
            steady,
            cooldown: Duration::ZERO,
        }
    }

    /// The length of all four phases together.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.ramp_up
            .saturating_add(self.warm_up)
            .saturating_add(self.steady)
            .saturating_add(self.cooldown)
    }

    pub(crate) fn layout(&self) -> Result<Layout, LayoutError> {
        Layout::new(&[
            (Phase::RampUp, self.ramp_up),
            (Phase::WarmUp, self.warm_up),
            (Phase::Steady, self.steady),
            (Phase::Cooldown, self.cooldown),
        ])
    }

    pub(crate) fn profile(&self, rate: Rate) -> Result<Profile, ProfileError> {
        let mut pieces = [
            (Rate::ZERO, rate, self.ramp_up),
            (rate, rate, self.warm_up),
            (rate, rate, self.steady),
            (rate, Rate::ZERO, self.cooldown),
        ]
        .into_iter()
        .filter(|(_, _, length)| !length.is_zero())
        .map(|(from, to, length)| Profile::ramp(from, to, length));
        let first = pieces
            .next()
            .unwrap_or_else(|| Profile::hold(rate, self.steady))?;
        pieces.try_fold(first, |profile, piece| profile.then(piece?))
    }
}
