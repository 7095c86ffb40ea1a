//! One piece of a profile: a shape, and where it stands in time and in operational time.

use super::linear::Linear;
use super::sine::Sine;

/// How the rate moves over a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Linear(Linear),
    Sine(Sine),
}

/// A shape in its place: [`start`, `start + len`) in nanoseconds, from `before` on in half units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) before: u128,
    pub(super) area: u128,
    pub(super) shape: Shape,
}

impl Piece {
    pub(super) fn end(&self) -> u64 {
        self.start + self.len
    }

    pub(super) fn after(&self) -> u128 {
        self.before + self.area
    }

    /// Λ at `t`, which must lie in the piece.
    pub(super) fn integral(&self, t: u64) -> u128 {
        let x = t - self.start;
        let within = match self.shape {
            Shape::Linear(linear) => linear.integral(x, self.len),
            Shape::Sine(sine) => sine.integral(x),
        };
        self.before + within.min(self.area)
    }

    /// The last instant with Λ ≤ `target`, for `before` ≤ `target` < `after`.
    #[inline]
    pub(super) fn inverse(&self, target: u128) -> u64 {
        let within = target - self.before;
        self.start
            + match self.shape {
                Shape::Linear(linear) => linear.inverse(within, self.len),
                Shape::Sine(sine) => sine.inverse(within, self.len),
            }
    }

    /// λ at `t`, nHz.
    pub(super) fn rate(&self, t: u64) -> u64 {
        let x = t - self.start;
        match self.shape {
            Shape::Linear(linear) => linear.rate(x, self.len),
            Shape::Sine(sine) => sine.rate(x),
        }
    }
}

impl Shape {
    pub(super) fn area(self, len: u64) -> Option<u128> {
        match self {
            Shape::Linear(linear) => linear.area(len),
            Shape::Sine(sine) => sine.area(len),
        }
    }

    /// The highest rate it can reach, nHz.
    pub(super) fn peak(self) -> u64 {
        match self {
            Shape::Linear(linear) => linear.from.max(linear.to),
            Shape::Sine(sine) => sine.peak(),
        }
    }

    /// The part [`from`, `to`) of this shape of length `len`, with its rate times `factor`.
    pub(super) fn cut(self, from: u64, to: u64, len: u64, factor: f64) -> Shape {
        // `as` saturates; the peak is checked by whoever builds a piece from it.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let times = |rate: u64| (rate as f64 * factor).round() as u64;
        match self {
            Shape::Linear(linear) => Shape::Linear(Linear {
                from: times(linear.rate(from, len)),
                to: times(linear.rate(to, len)),
            }),
            Shape::Sine(sine) => Shape::Sine(sine.from(from, factor)),
        }
    }
}
