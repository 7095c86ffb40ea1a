//! Point processes of unit rate.

mod constant;
mod exponential;
mod gamma;
mod poisson;

use std::fmt;

pub use self::constant::Constant;
pub(crate) use self::exponential::{uniform, unit_exponential};
pub use self::gamma::{CoefficientOfVariation, CoefficientOfVariationError, Gamma};
pub use self::poisson::Poisson;
use crate::OpTime;

/// A point process of unit rate: one point per arrival on average, on the axis of [`OpTime`].
///
/// A [`Schedule`](crate::Schedule) puts point u at the instant Λ⁻¹(u) of its profile, so a process knows
/// nothing of rates or time. Points must not decrease (one that does counts as equal to the one before
/// it), and `None` ends the schedule. The same value gives the same points: randomness comes from a seed
/// kept inside, and a clone goes on where the original stood.
///
/// A process of your own:
///
/// ```
/// use openloop_sched::{OpTime, Process, Profile, Rate, Schedule};
/// use std::time::Duration;
///
/// /// Pairs: two arrivals at once, at half the rate.
/// #[derive(Clone, Debug, Default)]
/// struct Pairs(u64);
///
/// impl Process for Pairs {
///     fn next_point(&mut self) -> Option<OpTime> {
///         self.0 += 1;
///         Some(OpTime::from_arrivals((self.0 - 1) / 2 * 2))
///     }
/// }
///
/// let profile = Profile::hold(Rate::per_second(10.0)?, Duration::from_secs(1))?;
/// let schedule = Schedule::with_process(profile, Pairs::default());
/// let ms: Vec<_> = schedule.map(|t| t.intended.as_nanos() / 1_000_000).collect();
/// assert_eq!(ms, [0, 0, 200, 200, 400, 400, 600, 600, 800, 800]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Process: Clone + fmt::Debug + Send + Sync + 'static {
    /// The next point, not before the last one; `None` when there are no more.
    fn next_point(&mut self) -> Option<OpTime>;
}

/// The processes of this crate without a virtual call, and any other behind one.
#[derive(Clone, Debug)]
pub(crate) enum AnyProcess {
    Constant(Constant),
    Poisson(Poisson),
    Gamma(Gamma),
    Own(Box<dyn ErasedProcess>),
}

impl AnyProcess {
    pub(crate) fn own(process: impl Process) -> Self {
        AnyProcess::Own(Box::new(process))
    }

    #[inline]
    pub(crate) fn next_point(&mut self) -> Option<OpTime> {
        match self {
            AnyProcess::Constant(process) => process.next_point(),
            AnyProcess::Poisson(process) => process.next_point(),
            AnyProcess::Gamma(process) => process.next_point(),
            AnyProcess::Own(process) => process.next_point_erased(),
        }
    }
}

/// [`Process`] without `Clone`, which is not object-safe.
pub(crate) trait ErasedProcess: fmt::Debug + Send + Sync {
    fn next_point_erased(&mut self) -> Option<OpTime>;
    fn clone_erased(&self) -> Box<dyn ErasedProcess>;
}

impl<P: Process> ErasedProcess for P {
    fn next_point_erased(&mut self) -> Option<OpTime> {
        self.next_point()
    }

    fn clone_erased(&self) -> Box<dyn ErasedProcess> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn ErasedProcess> {
    fn clone(&self) -> Self {
        // Through the box: a box of a process is not itself one.
        (**self).clone_erased()
    }
}
