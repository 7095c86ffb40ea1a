//! The rate over time, its integral and its inverse.

mod build;
mod bursts;
mod error;
mod linear;
mod parse;
mod piece;
mod sine;
mod solve;

use std::fmt;
use std::sync::Arc;

pub use self::bursts::{Bursts, ParseBurstsError};
pub use self::error::{ParseProfileError, ProfileError};
use self::piece::Piece;
use crate::{Offset, OpTime, Rate};

/// The rate λ(t) ≥ 0 over [0, end), in pieces.
///
/// | | | |
/// | --- | --- | --- |
/// | λ(t) | [`rate_at`](Profile::rate_at) | arrivals per second at t |
/// | Λ(t) = ∫₀ᵗ λ | [`integral`](Profile::integral) | arrivals expected in [0, t) |
/// | Λ⁻¹(u) = inf { t : Λ(t) > u } | [`inverse`](Profile::inverse) | the instant of the point u |
///
/// Rates are whole nano-hertz and times whole nanoseconds, so Λ is an exact integer at every joint of two
/// pieces ([`OpTime`]), fractions of an arrival carry over from piece to piece, and totals are not off by
/// one. Windows are half-open: the point u = Λ(a) of a joint a belongs to the piece that starts there, and
/// where that piece has no arrivals, to the next one that has. u = Λ(end) has no instant.
///
/// Instants are cut to whole nanoseconds, hence never at or past the end of their piece. Inside a piece
/// integers decide as well: floating point only steers the search, so an instant is the same on every
/// platform. (A sine's Λ uses the `libm` crate, which is.)
///
/// Cheap to clone; 112 bytes a piece.
#[derive(Clone, PartialEq)]
pub struct Profile {
    // Never empty; each piece has a length.
    pieces: Arc<[Piece]>,
}

impl Profile {
    /// The end of the last piece. No arrival is at or after it.
    #[must_use]
    pub fn end(&self) -> Offset {
        Offset::from_nanos(self.pieces.last().map_or(0, Piece::end))
    }

    /// Arrivals expected in all, Λ(end).
    ///
    /// A [`Constant`](crate::Constant) process has ⌈Λ(end)⌉ of them exactly; of a random one it is the mean.
    #[must_use]
    pub fn expected(&self) -> f64 {
        self.total().as_arrivals()
    }

    /// λ(`at`), to the nearest nano-hertz. At a joint it is the rate of the piece that starts there; zero
    /// from the end on.
    #[must_use]
    pub fn rate_at(&self, at: Offset) -> Rate {
        self.piece_at(at).map_or(Rate::ZERO, |piece| {
            Rate::from_nanohertz_saturating(piece.rate(at.as_nanos()))
        })
    }

    /// Λ(`at`): arrivals expected in [0, `at`). Exact at joints and inside holds, rounded up to a unit of
    /// 0.5·10⁻¹⁸ arrivals inside ramps, within 10⁻¹⁵ of a period's arrivals inside a sine; constant from the
    /// end on.
    #[must_use]
    pub fn integral(&self, at: Offset) -> OpTime {
        self.piece_at(at).map_or(self.total(), |piece| {
            OpTime::from_units(piece.integral(at.as_nanos()))
        })
    }

    /// Λ⁻¹(`point`) = inf { t : Λ(t) > `point` }, cut to whole nanoseconds; `None` for Λ(end) and beyond.
    #[must_use]
    pub fn inverse(&self, point: OpTime) -> Option<Offset> {
        let index = self
            .pieces
            .partition_point(|piece| piece.after() <= point.as_units());
        self.inverse_from(index, point).map(|(instant, _)| instant)
    }

    /// The inverse for points that do not decrease: searches from piece `index` on, and gives the piece found.
    #[inline]
    pub(crate) fn inverse_from(&self, mut index: usize, point: OpTime) -> Option<(Offset, usize)> {
        let units = point.as_units();
        loop {
            let piece = self.pieces.get(index)?;
            if units < piece.after() {
                return Some((Offset::from_nanos(piece.inverse(units)), index));
            }
            index += 1;
        }
    }

    fn total(&self) -> OpTime {
        OpTime::from_units(self.pieces.last().map_or(0, Piece::after))
    }

    fn piece_at(&self, at: Offset) -> Option<&Piece> {
        let index = self
            .pieces
            .partition_point(|piece| piece.end() <= at.as_nanos());
        self.pieces.get(index)
    }
}

// A summary: bursts make hundreds of thousands of pieces.
impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profile")
            .field("pieces", &self.pieces.len())
            .field("end", &self.end())
            .field("expected", &self.expected())
            .finish()
    }
}
