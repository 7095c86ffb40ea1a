//! The exponential distribution with mean 1, to its full tail.

use std::f64::consts::LN_2;

use rand_core::Rng;

/// An exponential variable with mean 1, by inversion: −ln u.
///
/// A u from a grid of 2⁻⁵² would have no value above 36.7, and coarse ones near it. So u is drawn from
/// [2⁻¹¹, 1) alone, on the midpoints of that grid, and each draw below it (one in 2048) adds 11·ln 2 and
/// draws again: the distribution has no memory, so this is exact, and nothing bounds it.
///
/// `libm::log` rather than `f64::ln`, which is the platform's and may differ in the last place.
#[inline]
pub(crate) fn unit_exponential(rng: &mut impl Rng) -> f64 {
    let mut base = 0.0;
    loop {
        let bits = rng.next_u64();
        if bits >> 53 != 0 {
            return base - libm::log(midpoint(bits));
        }
        base += 11.0 * LN_2;
    }
}

/// Uniform in (0, 1), on the midpoints of a grid of 2⁻⁵²: neither end is ever drawn.
#[inline]
pub(crate) fn uniform(rng: &mut impl Rng) -> f64 {
    midpoint(rng.next_u64())
}

#[inline]
fn midpoint(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rand_core::TryRng;

    use super::*;

    /// Gives back the numbers it was made of.
    struct Script(Vec<u64>);

    impl TryRng for Script {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            self.try_next_u64().map(|bits| (bits >> 32) as u32)
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(self.0.remove(0))
        }

        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
            unreachable!("only words are drawn")
        }
    }

    #[test]
    fn nothing_caps_the_tail() {
        // −ln 2⁻⁵³ = 36.7 would be the end of a 53-bit grid.
        let mut rng = Script(vec![0, 0, 0, 0, 0, 0, 0, 1 << 63]);
        let x = unit_exponential(&mut rng);
        assert!((x - (77.0 + 1.0) * LN_2).abs() < 1e-12, "{x}");
    }

    #[test]
    fn the_two_branches_meet() {
        // u = 2⁻¹¹ from above, and the largest u of the second round: both are 11 ln 2 but for a grid step.
        let above = unit_exponential(&mut Script(vec![1 << 53]));
        let below = unit_exponential(&mut Script(vec![0, u64::MAX]));
        assert!(above < below && below - above < 1e-12, "{above} {below}");
    }

    #[test]
    fn the_smallest_value_is_above_zero() {
        assert!(unit_exponential(&mut Script(vec![u64::MAX])) > 0.0);
    }
}
