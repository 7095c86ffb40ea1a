//! Profiles from rates and times.

use std::time::Duration;

use super::linear::Linear;
use super::piece::{Piece, Shape};
use super::sine::Sine;
use super::{Profile, ProfileError};
use crate::Rate;

/// The most pieces that a profile keeps: 117 MB of them.
const MAX_PIECES: usize = 1 << 20;

impl Profile {
    /// `rate` for `time`.
    ///
    /// ```
    /// # use openloop_sched::{Profile, Rate};
    /// # use std::time::Duration;
    /// let profile = Profile::hold(Rate::per_second(0.29)?, Duration::from_secs(100))?;
    /// assert_eq!(profile.expected(), 29.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When `time` is zero or longer than 584 years, or the arrivals do not fit.
    pub fn hold(rate: Rate, time: Duration) -> Result<Self, ProfileError> {
        Profile::ramp(rate, rate, time)
    }

    /// Nothing for `time`.
    ///
    /// # Errors
    /// When `time` is zero or longer than 584 years.
    pub fn pause(time: Duration) -> Result<Self, ProfileError> {
        Profile::hold(Rate::ZERO, time)
    }

    /// From `from` to `to` on a straight line over `time`: (from + to)/2 · time arrivals.
    ///
    /// # Errors
    /// When `time` is zero or longer than 584 years, or the arrivals do not fit.
    pub fn ramp(from: Rate, to: Rate, time: Duration) -> Result<Self, ProfileError> {
        let mut builder = Builder::default();
        builder.ramp(from, to, time)?;
        builder.finish()
    }

    /// Each rate for its time, one after the other.
    ///
    /// # Errors
    /// When there is no step, a time is zero, or the end or the arrivals do not fit.
    pub fn step(steps: &[(Rate, Duration)]) -> Result<Self, ProfileError> {
        let mut builder = Builder::default();
        for &(rate, time) in steps {
            builder.ramp(rate, rate, time)?;
        }
        builder.finish()
    }

    /// `base`, for `spike` of the time `peak`, then `base` again.
    ///
    /// # Errors
    /// When a time is zero, or the end or the arrivals do not fit.
    pub fn spike(
        base: Rate,
        peak: Rate,
        before: Duration,
        spike: Duration,
        after: Duration,
    ) -> Result<Self, ProfileError> {
        Profile::step(&[(base, before), (peak, spike), (base, after)])
    }

    /// mean + amplitude·sin(2π·t/period) for `time`: starts at the mean and rises.
    ///
    /// # Errors
    /// When the amplitude exceeds the mean (the rate would be negative), a time is zero, the peak exceeds
    /// [`Rate::MAX`], or the arrivals do not fit.
    pub fn sine(
        mean: Rate,
        amplitude: Rate,
        period: Duration,
        time: Duration,
    ) -> Result<Self, ProfileError> {
        if amplitude > mean {
            return Err(ProfileError::AmplitudeAboveMean { amplitude, mean });
        }
        let period = nanos(period)?;
        if period == 0 {
            return Err(ProfileError::ZeroPeriod);
        }
        let sine = Sine::new(mean.as_nanohertz(), amplitude.as_nanohertz(), period, 0);
        let mut builder = Builder::default();
        builder.push(Shape::Sine(sine), nanos(time)?)?;
        builder.finish()
    }

    /// This profile, and then `next`. Fractions of an arrival carry over.
    ///
    /// # Errors
    /// When the end or the arrivals do not fit, or there are too many pieces.
    pub fn then(self, next: Profile) -> Result<Self, ProfileError> {
        let mut builder = Builder::from(&self);
        builder.append(&next)?;
        builder.finish()
    }

    /// This profile `times` times over.
    ///
    /// # Errors
    /// When `times` is zero, the end or the arrivals do not fit, or there are too many pieces.
    pub fn repeat(self, times: u32) -> Result<Self, ProfileError> {
        if times == 0 {
            return Err(ProfileError::RepeatZero);
        }
        let mut builder = Builder::from(&self);
        for _ in 1..times {
            builder.append(&self)?;
        }
        builder.finish()
    }
}

/// Pieces one after the other, every limit checked as they come.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pieces: Vec<Piece>,
}

impl From<&Profile> for Builder {
    fn from(profile: &Profile) -> Self {
        Builder {
            pieces: profile.pieces.to_vec(),
        }
    }
}

impl Builder {
    pub(super) fn ramp(
        &mut self,
        from: Rate,
        to: Rate,
        time: Duration,
    ) -> Result<(), ProfileError> {
        let (from, to) = (from.as_nanohertz(), to.as_nanohertz());
        self.push(Shape::Linear(Linear { from, to }), nanos(time)?)
    }

    pub(super) fn append(&mut self, profile: &Profile) -> Result<(), ProfileError> {
        for piece in profile.pieces.iter() {
            self.push(piece.shape, piece.len)?;
        }
        Ok(())
    }

    pub(super) fn push(&mut self, shape: Shape, len: u64) -> Result<(), ProfileError> {
        let index = self.pieces.len();
        if len == 0 {
            return Err(ProfileError::ZeroLength { piece: index });
        }
        if index == MAX_PIECES {
            return Err(ProfileError::TooManyPieces { limit: MAX_PIECES });
        }
        if shape.peak() > Rate::MAX.as_nanohertz() {
            return Err(ProfileError::TooFast { piece: index });
        }
        let (start, before) = self
            .pieces
            .last()
            .map_or((0, 0), |last| (last.end(), last.after()));
        start.checked_add(len).ok_or(ProfileError::TooLong)?;
        let area = shape.area(len).ok_or(ProfileError::TooManyArrivals)?;
        before
            .checked_add(area)
            .ok_or(ProfileError::TooManyArrivals)?;
        self.pieces.push(Piece {
            start,
            len,
            before,
            area,
            shape,
        });
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Profile, ProfileError> {
        if self.pieces.is_empty() {
            return Err(ProfileError::Empty);
        }
        Ok(Profile {
            pieces: self.pieces.into(),
        })
    }
}

fn nanos(time: Duration) -> Result<u64, ProfileError> {
    u64::try_from(time.as_nanos()).map_err(|_| ProfileError::TooLong)
}
