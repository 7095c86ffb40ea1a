//! The instants of all arrivals, as a value.

use crate::process::AnyProcess;
use crate::shard::Shard;
use crate::{Arrivals, Offset, OpTime, Process, Profile, Recorded, ShardError, Ticket, stream};

/// All arrivals of a run, in order: a pure value that knows no clock.
///
/// Arrival k is due at Λ⁻¹(uₖ): Λ is the integral of the [`Profile`], and uₖ the k-th point of the
/// [`Process`]. The same profile, process and seed give the same instants, to the nanosecond, on every
/// platform and for every number of shards. Intended instants never decrease, and all lie before
/// [`end`](Schedule::end). Cloning copies a few hundred bytes.
///
/// ```
/// use openloop_sched::{Arrivals, Profile, Rate, Schedule};
/// use std::time::Duration;
///
/// let profile = Profile::hold(Rate::per_second(0.1)?, Duration::from_secs(30))?;
/// let seconds: Vec<_> = Schedule::new(profile, Arrivals::Constant, 1)
///     .map(|ticket| ticket.intended.as_duration().as_secs())
///     .collect();
/// assert_eq!(seconds, [0, 10, 20]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Schedule {
    source: Source,
    /// The number of the next arrival of the whole schedule; `None` when it has ended.
    seq: Option<u64>,
    shard: Shard,
}

#[derive(Clone, Debug)]
enum Source {
    Timed {
        profile: Profile,
        process: AnyProcess,
        /// The piece that the last arrival was in: points do not decrease.
        piece: usize,
        point: OpTime,
    },
    Recorded(Recorded),
}

impl Schedule {
    /// `arrivals` at the rate of `profile`, drawn from the stream `"arrivals"` of `seed`
    /// (see [`stream`]).
    #[must_use]
    pub fn new(profile: Profile, arrivals: Arrivals, seed: u64) -> Self {
        Schedule::timed(profile, arrivals.process(stream(seed, "arrivals")))
    }

    /// A process of your own at the rate of `profile`.
    #[must_use]
    pub fn with_process(profile: Profile, process: impl Process) -> Self {
        Schedule::timed(profile, AnyProcess::own(process))
    }

    /// The arrivals of a trace.
    #[must_use]
    pub fn recorded(trace: Recorded) -> Self {
        Schedule::of(Source::Recorded(trace))
    }

    fn timed(profile: Profile, process: AnyProcess) -> Self {
        Schedule::of(Source::Timed {
            profile,
            process,
            piece: 0,
            point: OpTime::ZERO,
        })
    }

    fn of(source: Source) -> Self {
        Schedule {
            source,
            seq: Some(0),
            shard: Shard::WHOLE,
        }
    }

    /// Every `count`-th arrival, from `index` on: of the whole schedule, those with
    /// seq ≡ `index` (mod `count`). Numbers and instants are those of the whole, and the shards
    /// 0 … `count` − 1 partition it.
    ///
    /// A shard can be split again: shard k of n of a shard has every n-th of *its* arrivals. That is how
    /// several machines with several threads each share one schedule.
    ///
    /// # Errors
    /// When `count` is zero or `index` is not below it.
    pub fn shard(mut self, index: u64, count: u64) -> Result<Self, ShardError> {
        self.shard = self.shard.split(index, count)?;
        Ok(self)
    }

    /// The arrivals from here on of the whole schedule that this is a shard of.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.shard = Shard::WHOLE;
        self
    }

    /// The end of the profile, or 1 ns after the last arrival of a trace. Every arrival is before it. A shard
    /// ends with the whole.
    #[must_use]
    pub fn end(&self) -> Offset {
        match &self.source {
            Source::Timed { profile, .. } => profile.end(),
            Source::Recorded(trace) => trace.end(),
        }
    }

    /// The profile; `None` for a trace.
    #[must_use]
    pub fn profile(&self) -> Option<&Profile> {
        match &self.source {
            Source::Timed { profile, .. } => Some(profile),
            Source::Recorded(_) => None,
        }
    }
}

impl Iterator for Schedule {
    type Item = Ticket;

    #[inline]
    fn next(&mut self) -> Option<Ticket> {
        let mut at = self.seq?;
        let Some(seq) = self.shard.at_or_after(at) else {
            self.seq = None;
            return None;
        };
        let intended = match &mut self.source {
            Source::Timed {
                profile,
                process,
                piece,
                point,
            } => loop {
                // Every shard draws every point, and inverts its own alone.
                let Some(next) = process.next_point() else {
                    break None;
                };
                *point = next.max(*point);
                if at < seq {
                    at += 1;
                    continue;
                }
                break profile
                    .inverse_from(*piece, *point)
                    .map(|(instant, found)| {
                        *piece = found;
                        instant
                    });
            },
            Source::Recorded(trace) => usize::try_from(seq)
                .ok()
                .and_then(|index| trace.offsets().get(index).copied()),
        };
        self.seq = intended.and_then(|_| seq.checked_add(1));
        intended.map(|intended| Ticket { seq, intended })
    }
}

impl std::iter::FusedIterator for Schedule {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_cross_threads_and_outlive_borrows() {
        fn check<T: Iterator<Item = Ticket> + Clone + std::fmt::Debug + Send + Sync + 'static>() {}
        check::<Schedule>();
    }
}
