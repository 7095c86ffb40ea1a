//! Random on/off modulation of a profile.

use std::str::FromStr;
use std::time::Duration;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::build::Builder;
use super::{Profile, ProfileError};
use crate::process::{uniform, unit_exponential};
use crate::{DurationError, parse_duration, stream};

/// A random switch between two factors of the rate, with mean 1.
///
/// While on, the rate is λ(t)·`factor`; while off, it is λ(t)·(1 − p·factor)/(1 − p), with the share of
/// time on p = on/(on + off): so on average it is λ(t). Dwell times are exponential and in *seconds*, not in
/// arrivals: a burst lasts as long at 10/s as at 10 000/s. The switch is in its steady state from the start
/// (on at t = 0 with probability p). Under a Poisson process this is a Markov-modulated Poisson process with
/// two states (Fischer and Meier-Hellstern, "The Markov-modulated Poisson process cookbook", 1993).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Mean time on.
    pub on: Duration,
    /// Mean time off.
    pub off: Duration,
    /// What the rate is multiplied by while on: from 1 to 1/p. At 1/p nothing arrives while off.
    pub factor: f64,
}

impl Profile {
    /// This profile with a random on/off modulation drawn from the stream `"bursts"` of `seed`.
    ///
    /// The result is piecewise like any other profile; its rates are rounded to whole nano-hertz, and
    /// [`expected`](Profile::expected) is that of this realisation.
    ///
    /// # Errors
    /// When a dwell time is zero, the factor is below 1 or above 1/p, a rate exceeds
    /// [`Rate::MAX`](crate::Rate::MAX), or the dwell times are so short that there are too many pieces.
    pub fn bursts(self, bursts: Bursts, seed: u64) -> Result<Self, ProfileError> {
        let Bursts { on, off, factor } = bursts;
        if on.is_zero() || off.is_zero() {
            return Err(ProfileError::ZeroDwell { on, off });
        }
        if !factor.is_finite() || factor < 1.0 {
            return Err(ProfileError::BurstFactor(factor));
        }
        let (on, off) = (on.as_nanos() as f64, off.as_nanos() as f64);
        // p·factor ≤ 1, written so that 100 ms on and 900 ms off allow exactly 10.
        if factor * on > on + off {
            let limit = (on + off) / on;
            return Err(ProfileError::BurstFactorTooHigh { factor, limit });
        }
        let quiet = ((on + off - factor * on) / off).max(0.0);

        let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream(seed, "bursts"));
        let mut is_on = uniform(&mut rng) < on / (on + off);
        let mut dwell = |is_on: bool| {
            let nanos = unit_exponential(&mut rng) * if is_on { on } else { off };
            // `as` saturates.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let nanos = nanos.round() as u64;
            nanos.max(1)
        };
        let mut left = dwell(is_on);
        let mut builder = Builder::default();
        for piece in self.pieces.iter() {
            let mut from = 0;
            while from < piece.len {
                let to = piece.len.min(from.saturating_add(left));
                let times = if is_on { factor } else { quiet };
                builder.push(piece.shape.cut(from, to, piece.len, times), to - from)?;
                left -= to - from;
                from = to;
                if left == 0 {
                    is_on = !is_on;
                    left = dwell(is_on);
                }
            }
        }
        builder.finish()
    }
}

/// `ON,OFF,FACTOR`, such as `100ms,900ms,5`.
impl FromStr for Bursts {
    type Err = ParseBurstsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split(',');
        let (Some(on), Some(off), Some(factor), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(ParseBurstsError::Form(text.to_owned()));
        };
        Ok(Bursts {
            on: parse_duration(on)?,
            off: parse_duration(off)?,
            factor: factor
                .trim()
                .parse()
                .map_err(|_| ParseBurstsError::Form(text.to_owned()))?,
        })
    }
}

/// Why a text does not describe bursts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseBurstsError {
    /// Not three parts, or the last is not a number.
    #[error(
        "\"{0}\" does not describe bursts: write time on, time off and factor, such as 100ms,900ms,5"
    )]
    Form(String),
    /// A dwell time is not a duration.
    #[error(transparent)]
    Duration(#[from] DurationError),
}
