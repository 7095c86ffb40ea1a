//! Why a profile cannot be.

use std::time::Duration;

use crate::{DurationError, Rate, RateError};

/// Why rates and times do not make a profile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// No piece at all.
    #[error("a profile needs at least one piece: give a rate and a time")]
    Empty,
    /// A piece of no length.
    #[error("piece {piece} (from 0) lasts 0s: give it a time, or leave it out")]
    ZeroLength {
        /// Which one, from 0.
        piece: usize,
    },
    /// A sine without a period.
    #[error("a sine needs a period above 0s")]
    ZeroPeriod,
    /// The rate would go below zero.
    #[error(
        "an amplitude of {amplitude} around a mean of {mean} makes the rate negative: at most the mean"
    )]
    AmplitudeAboveMean {
        /// The amplitude asked for.
        amplitude: Rate,
        /// The mean asked for.
        mean: Rate,
    },
    /// A piece is faster than any [`Rate`].
    #[error(
        "piece {piece} (from 0) reaches more than {}: lower the rate or the factor",
        Rate::MAX
    )]
    TooFast {
        /// Which one, from 0.
        piece: usize,
    },
    /// The end does not fit in 64 bits of nanoseconds.
    #[error("the profile ends later than 584 years")]
    TooLong,
    /// The arrivals do not fit.
    #[error("the profile holds more than 1e20 arrivals")]
    TooManyArrivals,
    /// Repetition or modulation makes too many pieces to keep.
    #[error(
        "the profile would have more than {limit} pieces: repeat less, or make the dwell times longer"
    )]
    TooManyPieces {
        /// The most that a profile keeps.
        limit: usize,
    },
    /// Repeated zero times.
    #[error("a profile cannot be repeated 0 times: 1 is the profile itself")]
    RepeatZero,
    /// A burst state that lasts no time.
    #[error("bursts need mean dwell times above 0s, and these are {on:?} on and {off:?} off")]
    ZeroDwell {
        /// The mean time on.
        on: Duration,
        /// The mean time off.
        off: Duration,
    },
    /// A factor that is no factor of a burst.
    #[error("a burst factor of {0} is not one: it multiplies the rate while on, and is at least 1")]
    BurstFactor(f64),
    /// The mean cannot be 1, since the rate while off would be negative.
    #[error(
        "with this share of time on, a burst factor of {factor} needs a negative rate while off: at most {limit}"
    )]
    BurstFactorTooHigh {
        /// The factor asked for.
        factor: f64,
        /// The highest possible, 1 / share of time on.
        limit: f64,
    },
}

/// Why a text is not a profile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseProfileError {
    /// A piece is not of the form rate/time or from->to/time.
    #[error(
        "\"{0}\" is not a piece of a profile: write rate/time or from->to/time, such as 100/20s or 0->100/10s"
    )]
    Piece(String),
    /// A rate in a piece is not one.
    #[error("in \"{piece}\": {source}")]
    Rate {
        /// The piece.
        piece: String,
        /// What is wrong with its rate.
        source: RateError,
    },
    /// A time in a piece is not one.
    #[error("in \"{piece}\": {source}")]
    Duration {
        /// The piece.
        piece: String,
        /// What is wrong with its time.
        source: DurationError,
    },
    /// The pieces are well written and make no profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}
