//! A rate that moves on a straight line: a hold or a ramp.

use super::solve::last_at_or_below;

/// Rate from `from` to `to` nano-hertz, linearly.
///
/// For a rise Δ = to − from over a length d: λ(x) = from + Δ·x/d and, in half units,
/// Λ(x) = 2·from·x + Δ·x²/d. A fall is a rise seen from its end, which keeps every difference positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Linear {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Linear {
    /// Λ(`len`), exact; `None` where it does not fit.
    pub(super) fn area(self, len: u64) -> Option<u128> {
        (u128::from(self.from) + u128::from(self.to)).checked_mul(u128::from(len))
    }

    /// λ(`x`) to the nearest nano-hertz.
    pub(super) fn rate(self, x: u64, len: u64) -> u64 {
        let delta = u128::from(self.from.abs_diff(self.to));
        // Cannot exceed `delta`, because x ≤ len.
        let part = ((delta * u128::from(x) + u128::from(len) / 2) / u128::from(len)).min(delta);
        let part = u64::try_from(part).unwrap_or(u64::MAX);
        if self.from <= self.to {
            self.from + part
        } else {
            self.from - part
        }
    }

    /// Λ(`x`), rounded up to a whole unit: so that it is ≤ a whole target exactly where the real one is.
    pub(super) fn integral(self, x: u64, len: u64) -> u128 {
        if self.from <= self.to {
            let (floor, exact) = rise(self.from, self.to - self.from, x, len);
            floor + u128::from(!exact)
        } else {
            let area = (u128::from(self.from) + u128::from(self.to)) * u128::from(len);
            area - rise(self.to, self.from - self.to, len - x, len).0
        }
    }

    /// The last `x` with Λ(x) ≤ `target`, for `target` < Λ(`len`).
    #[inline]
    pub(super) fn inverse(self, target: u128, len: u64) -> u64 {
        if self.from == self.to {
            return hold(target, self.from).min(len - 1);
        }
        let guess = if self.from < self.to {
            rise_inverse(self.from, self.to - self.from, target, len)
        } else {
            let area = (u128::from(self.from) + u128::from(self.to)) * u128::from(len);
            let left = rise_inverse(self.to, self.from - self.to, area - target, len);
            Guess {
                at: len as f64 - left.at,
                ..left
            }
        };
        // Where the guess is farther from a whole nanosecond than it can be wrong, its floor is the answer.
        let floor = guess.at.floor();
        let fraction = guess.at - floor;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let nanos = (floor.max(0.0) as u64).min(len - 1);
        if fraction > guess.error && fraction < 1.0 - guess.error {
            return nanos;
        }
        last_at_or_below(
            target,
            len,
            nanos,
            |x| self.integral(x, len),
            |x| self.rate(x, len) as f64,
        )
    }
}

/// Arrivals at a constant rate: ⌊target / (2·rate)⌋. The caller's `target` is below the area, so the
/// rate is not zero and the quotient is below the length.
#[inline]
fn hold(target: u128, rate: u64) -> u64 {
    let (half, rate) = (target / 2, u128::from(rate.max(1)));
    u64::try_from(half / rate).unwrap_or(u64::MAX)
}

/// ⌊2·from·x + delta·x²/len⌋ and whether nothing was cut. Fits, because it is at most the area.
fn rise(from: u64, delta: u64, x: u64, len: u64) -> (u128, bool) {
    let (from, delta) = (u128::from(from), u128::from(delta));
    let (x, len) = (u128::from(x), u128::from(len));
    // delta·x² would not fit: divide the square first, and carry its remainder.
    let (quotient, remainder) = (x * x / len, x * x % len);
    let carried = delta * remainder;
    (
        2 * from * x + delta * quotient + carried / len,
        carried.is_multiple_of(len),
    )
}

struct Guess {
    at: f64,
    error: f64,
}

/// Solves from·x + delta·x²/(2·len) = target/2 for x ≥ 0, in the form without cancellation.
fn rise_inverse(from: u64, delta: u64, target: u128, len: u64) -> Guess {
    let (from, slope) = (from as f64, delta as f64 / len as f64);
    let twice = target as f64;
    let root = (from * from + slope * twice).sqrt();
    let at = if root == 0.0 {
        0.0
    } else {
        twice / (from + root)
    };
    // Ten roundings of 2⁻⁵³ at most; 2⁻⁴⁸ of the larger coordinate also covers `len − at`.
    Guess {
        at,
        error: len as f64 * 2f64.powi(-48),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortcut_and_integer_search_agree() {
        let len = 10_000_000_007;
        for (from, to) in [
            (0, 100_000_000_003),
            (77_000_000_001, 3),
            (5, 5_000_000_000_011),
        ] {
            let ramp = Linear { from, to };
            let area = ramp.area(len).unwrap();
            for k in 0..2_000u128 {
                let target = area / 2_000 * k + k * k % 97;
                let x = ramp.inverse(target, len);
                assert!(ramp.integral(x, len) <= target, "{from} {to} {k}");
                assert!(ramp.integral(x + 1, len) > target, "{from} {to} {k}");
            }
            // Where the answer is a whole nanosecond, floating point alone is as often below it as above.
            for k in 1..2_000 {
                let x = k * 4_999_999;
                let target = ramp.integral(x, len);
                assert_eq!(ramp.inverse(target, len), x, "{from} {to}");
                assert_eq!(ramp.inverse(target - 1, len), x - 1, "{from} {to}");
            }
        }
    }

    #[test]
    fn rates_at_the_limit_do_not_overflow() {
        let max = crate::Rate::MAX.as_nanohertz();
        let len = u64::MAX;
        let fall = Linear { from: max, to: 0 };
        let area = fall.area(len).unwrap();
        assert_eq!(fall.integral(0, len), 0);
        assert_eq!(fall.integral(len, len), area);
        assert!(fall.inverse(area - 1, len) < len);
        assert_eq!(fall.inverse(0, len), 0);
        assert_eq!(Linear { from: max, to: max }.area(len), None);
    }
}
