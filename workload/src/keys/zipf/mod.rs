//! Few keys are hot and the rest are many: Zipf's law.

mod elementary;
mod fit;
mod harmonic;
mod moments;
mod share;

pub use fit::{FitError, ZipfFit};
pub use share::ShareError;

use super::cache::characteristic;
use super::{KeysError, STREAM};
use crate::draws::Draws;
use elementary::{exp, ln_1p};
use harmonic::{integral, power_sum};
use moments::smooth_sum;

/// From this key on, a block of keys is drawn first and then the key within it: [`Zipf::beyond_wide`].
const WIDE: u64 = 1 << 32;

/// From this key on the midpoint of a cell stands for the whole: the law is met to s(s+1)/24 · 2⁻⁴⁰ without a test.
const SMOOTH: u64 = 1 << 20;

/// Keys in `1..=n` of which key k is asked for with the probability P(k) = k⁻ˢ / H(n, s), H(n, s) = Σ i⁻ˢ over
/// i = 1, …, n.
///
/// | s | n | the hottest key | the hottest 1 % | the hottest 20 % |
/// | --- | --- | --- | --- | --- |
/// | 0 (uniform) | 10⁶ | 0.0001 % | 1 % | 20 % |
/// | 0.5 | 10⁶ | 0.05 % | 10 % | 45 % |
/// | 0.99 | 10⁶ | 6.5 % | 66 % | 88 % |
/// | 1.2 | 10⁶ | 19 % | 91 % | 98 % |
///
/// It is the law of what people look for: pages (s = 0.6 to 0.9: Breslau and others, "Web caching and Zipf-like
/// distributions", 1999), and the keys of large caches, of which most have an s near 1 and many one above it (Yang,
/// Yue and Rashmi, "A large scale analysis of hundreds of in-memory cache clusters at Twitter", 2020). YCSB's default
/// is s = 0.99. [`from_share`](Self::from_share) turns "80 % on 20 %" into s, and [`fit`](Self::fit) takes s from an
/// access log.
///
/// The keys are ranks: key 1 is the hottest, key 2 the next. Where the place of a key matters, as in a B-tree, in
/// which neighbours share a page, [scramble](super::Scramble) them.
///
/// O(1) in time and memory for every s ≥ 0 and every n, up to 2⁶⁴ − 1; new in microseconds. Drawn by
/// rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", 1996), with functions of `libm`, so that every platform draws the same. A number has 52 random
/// bits: keys that all together have a probability below 2⁻⁵³ never come.
///
/// ```
/// use openloop_workload::keys::Zipf;
///
/// let keys = Zipf::new(1_000_000, 0.99)?;
/// assert!((1..=1_000_000).contains(&keys.key(7, 0)));
/// assert!((keys.pmf(1) - 0.0650).abs() < 0.0001);
/// // The hottest hundredth of the keys takes two thirds of the requests.
/// assert!((keys.hit_rate(10_000) - 0.664).abs() < 0.001);
/// # Ok::<(), openloop_workload::KeysError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zipf {
    n: u64,
    s: f64,
    /// H(n, s).
    total: f64,
    /// The area from which points are drawn: 1 for key 1, and ∫ t⁻ˢ dt from 3/2 to n + 1/2 for the others.
    area: f64,
    /// (1 − s) · (3/2)ˢ⁻¹, by which an area from 3/2 is t in (1 + t)^(1/(1 − s)); 1 where s = 1.
    scale: f64,
    /// scale · area.
    slope: f64,
    /// 1 / (1 − s).
    power: f64,
    /// A point farther than this, divided by key², from the beginning of its key's cell is accepted without a test. The
    /// cell is larger than k⁻ˢ by s(s+1)/(24k²) of it and smaller terms: a fifth more covers these.
    squeeze: f64,
}

impl Zipf {
    /// The keys `1..=n`, the hottest first, with the exponent `s`.
    ///
    /// # Errors
    /// When `n` is 0, or `s` is negative, infinite or not a number.
    pub fn new(n: u64, s: f64) -> Result<Self, KeysError> {
        if n == 0 {
            return Err(KeysError::Empty);
        }
        if !(s >= 0.0 && s.is_finite()) {
            return Err(KeysError::Exponent(s));
        }
        // So that s = -0 is written as 0.
        let s = s.abs();
        let beyond_first = libm::pow(1.5, 1.0 - s) * integral(libm::log((n as f64 + 0.5) / 1.5), s);
        let area = if n == 1 { 1.0 } else { 1.0 + beyond_first };
        let scale = if s == 1.0 {
            1.0
        } else {
            (1.0 - s) * libm::pow(1.5, s - 1.0)
        };
        Ok(Zipf {
            n,
            s,
            total: power_sum(1, n, s),
            area,
            scale,
            slope: scale * area,
            power: 1.0 / (1.0 - s),
            squeeze: s * (s + 1.0) / 20.0,
        })
    }

    /// The key that request number `seq` of a run with this seed asks for.
    #[must_use]
    #[inline]
    pub fn key(&self, seed: u64, seq: u64) -> u64 {
        self.draw(Draws::of(seed, STREAM, seq))
    }

    #[inline]
    fn draw(&self, mut draws: Draws) -> u64 {
        if self.s == 0.0 {
            return 1 + draws.below(self.n);
        }
        // No loop, and what is rare is not inlined: so the common case keeps all it needs in registers.
        match self.attempt(draws.open_unit(), draws) {
            Some(key) => key,
            None => self.attempt_again(draws),
        }
    }

    #[cold]
    #[inline(never)]
    fn attempt_again(&self, mut draws: Draws) -> u64 {
        loop {
            if let Some(key) = self.attempt(draws.open_unit(), draws) {
                return key;
            }
        }
    }

    /// The key of the point at the part `unit` of the whole area; `None` where the point lies above the law.
    #[inline(always)]
    fn attempt(&self, unit: f64, further: Draws) -> Option<u64> {
        if unit * self.area < 1.0 {
            return Some(1);
        }
        // The point x that has the area unit·area − 1 between 3/2 and itself. Rounding must not take the argument of the
        // logarithm to 0, at the very end of the area.
        let value = unit * self.slope - self.scale;
        let log = if self.s == 1.0 {
            value
        } else {
            self.power * ln_1p(value.max(f64::EPSILON / 2.0 - 1.0))
        };
        let x = 1.5 * exp(log);
        if x >= WIDE as f64 - 0.5 {
            return Some(self.beyond_wide(x, further));
        }
        let key = f64::from((x + 0.5) as u32);
        if (0.5 - (key - x)) * (key * key) >= self.squeeze || self.accepts(key, x) {
            // Rounding may also take x a little beyond either end.
            Some((key as u64).clamp(1, self.n))
        } else {
            None
        }
    }

    /// Whether the area from `x` to the end of the key's cell is within the probability k⁻ˢ of the key.
    ///
    /// Divided by k⁻ˢ and with t = k·τ: k ∫ τ⁻ˢ dτ from x/k to 1 + 1/(2k) is at most 1; so no digits cancel.
    #[cold]
    #[inline(never)]
    fn accepts(&self, key: f64, x: f64) -> bool {
        if key >= SMOOTH as f64 {
            return true;
        }
        let upper = integral(libm::log1p(0.5 / key), self.s);
        let lower = integral(libm::log1p((x - key) / key), self.s);
        key * (upper - lower) <= 1.0
    }

    /// A key of the block in which the key of `x` lies: a double tells neighbours apart up to 2⁵³ only, and `x` is right
    /// to some units of its last place.
    ///
    /// A block is as wide as 2⁻²⁴ of its keys or less, and has the area of its keys to (2⁻³²)². In it all keys are
    /// equally likely but for (k/first)⁻ˢ, which is a rejection in 2²⁴/s draws.
    #[cold]
    #[inline(never)]
    fn beyond_wide(&self, x: f64, mut draws: Draws) -> u64 {
        let key = ((x + 0.5) as u64).min(self.n);
        if key < WIDE {
            return key;
        }
        let bits = key.ilog2() - 24;
        let first = key >> bits << bits;
        let length = (self.n - first).min((1 << bits) - 1) + 1;
        loop {
            let offset = draws.below(length);
            let ratio = offset as f64 / first as f64;
            let level = draws.open_unit();
            if level <= 1.0 - self.s * ratio || level <= libm::exp(-self.s * libm::log1p(ratio)) {
                return first + offset;
            }
        }
    }

    /// How many keys there are, n.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.n
    }

    /// The exponent s.
    #[must_use]
    pub const fn exponent(&self) -> f64 {
        self.s
    }

    /// The probability of `key`; 0 outside `1..=n`. Right to 10⁻¹², relatively.
    #[must_use]
    pub fn pmf(&self, key: u64) -> f64 {
        if key == 0 || key > self.n {
            return 0.0;
        }
        libm::pow(key as f64, -self.s) / self.total
    }

    /// The probability of the keys `1..=key` together; 1 from n on. Right to 10⁻¹², relatively; some microseconds.
    #[must_use]
    pub fn cdf(&self, key: u64) -> f64 {
        if key >= self.n {
            return 1.0;
        }
        power_sum(1, key, self.s) / self.total
    }

    /// The share of the requests that the `capacity` hottest keys take: [`cdf`](Self::cdf).
    ///
    /// It is what a cache reaches that holds those keys for ever (perfect LFU), and no cache of that many entries
    /// reaches more: requests are independent, so that none foresees the next.
    #[must_use]
    pub fn hit_rate(&self, capacity: u64) -> f64 {
        self.cdf(capacity)
    }

    /// The share of the requests that a cache of `capacity` entries answers that evicts the least recently used.
    ///
    /// Che's approximation (Che, Tung and Wang, "Hierarchical web caching systems", 2002): a key stays for T requests
    /// after its last use, one T for all, where Σ (1 − exp(−P(k)·T)) = capacity, and is hit with 1 − exp(−P(k)·T).
    /// Within 0.01 of simulation even for tens of entries (Fricker, Robert and Roberts, "A versatile and accurate
    /// approximation for LRU cache performance", 2012). Of a cache that is warm: the first use of a key is no miss
    /// here. Milliseconds.
    ///
    /// ```
    /// use openloop_workload::keys::Zipf;
    ///
    /// let keys = Zipf::new(1_000_000, 0.99)?;
    /// let (best, lru) = (keys.hit_rate(10_000), keys.lru_hit_rate(10_000));
    /// assert!(lru < best && lru > 0.55);
    /// # Ok::<(), openloop_workload::KeysError>(())
    /// ```
    #[must_use]
    pub fn lru_hit_rate(&self, capacity: u64) -> f64 {
        if capacity == 0 || capacity >= self.n {
            return if capacity == 0 { 0.0 } else { 1.0 };
        }
        let weight = |key: f64| libm::exp(-self.s * libm::log(key)) / self.total;
        let present = |time: f64, key: f64| -libm::expm1(-weight(key) * time);
        let resident = |time: f64| smooth_sum(self.n, self.s, |key| [present(time, key)])[0];
        characteristic(capacity as f64, resident).map_or(1.0, |time| {
            let [hits] = smooth_sum(self.n, self.s, |key| [weight(key) * present(time, key)]);
            hits.clamp(0.0, self.hit_rate(capacity))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPONENTS: [f64; 9] = [
        1e-9,
        0.5,
        0.99,
        1.0 - 1e-13,
        1.0,
        1.0 + 1e-13,
        1.2,
        3.0,
        30.0,
    ];

    #[test]
    fn what_the_squeeze_accepts_the_test_accepts() {
        for s in EXPONENTS {
            let zipf = Zipf::new(10_000, s).unwrap();
            for key in 2..10_000 {
                // The test itself rounds.
                let x = key as f64 - 0.5 + zipf.squeeze / (key * key) as f64 + 1e-11;
                assert!(zipf.accepts(key as f64, x), "s = {s}, key {key}");
            }
        }
    }

    #[test]
    fn the_test_rejects_what_a_cell_is_too_large_by() {
        // For s = 1 the cell of key 2 is ln(5/3), of which 1/2 is accepted: from x with ln(5/2 / x) = 1/2.
        let zipf = Zipf::new(10, 1.0).unwrap();
        let edge = 2.5 * (-0.5_f64).exp();
        assert!(zipf.accepts(2.0, edge + 1e-12) && !zipf.accepts(2.0, edge - 1e-12));
    }

    #[test]
    fn a_draw_is_rejected_rarely_for_any_exponent() {
        // Of the area from which points are drawn, H(n, s) is accepted.
        for s in EXPONENTS.into_iter().chain([2.0, 5.0, 1e4, 1e300]) {
            for n in [1, 2, 10, 1_000_000_000_000, u64::MAX] {
                let zipf = Zipf::new(n, s).unwrap();
                let accepted = zipf.total / zipf.area;
                assert!(
                    accepted > 0.9 && accepted < 1.0 + 1e-12,
                    "{accepted} at s = {s}, n = {n}"
                );
            }
        }
    }

    #[test]
    fn a_point_past_the_last_key_is_the_last_key() {
        // The widest numbers that 52 bits give: s = 3 leaves no digit of the area of the last key.
        for n in [2, 3, 1_000, 1_000_000_000, 1 << 53, u64::MAX] {
            for s in EXPONENTS {
                let zipf = Zipf::new(n, s).unwrap();
                let key = zipf.draw(Draws::starting_with(u64::MAX));
                assert!((1..=n).contains(&key), "{key} at s = {s}, n = {n}");
                if n <= 1 << 50 {
                    assert_eq!(zipf.draw(Draws::starting_with(0)), 1);
                }
            }
        }
    }

    #[test]
    fn within_a_block_the_law_holds_and_the_last_block_ends_with_the_last_key() {
        let (first, n) = (1_u64 << 62, (1 << 62) + 99);
        let zipf = Zipf::new(n, 0.5).unwrap();
        let mut seen = [0_u32; 100];
        for seq in 0..20_000 {
            let key = zipf.beyond_wide((first + 50) as f64, Draws::of(1, 1, seq));
            seen[(key - first) as usize] += 1;
        }
        // 200 each; six standard deviations of a binomial count are 85.
        assert!(
            seen.iter().all(|count| count.abs_diff(200) < 85),
            "{seen:?}"
        );
    }
}
