//! Random numbers of one request.

/// The increment of SplitMix64: 2⁶⁴ divided by the golden ratio, made odd.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// As many random numbers as one request needs, from `(seed, seq)` alone.
///
/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), whose n-th output can
/// be had without those before it. The generator of a request begins at the output number `seq` of the one that
/// begins at `seed`, moved by the name of what is drawn, so that keys share no numbers with anything else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws(u64);

impl Draws {
    #[inline]
    pub(crate) const fn of(seed: u64, stream: u64, seq: u64) -> Self {
        let start = mix(seed ^ mix(stream));
        Draws(mix(start.wrapping_add(seq.wrapping_mul(GOLDEN))))
    }

    /// The next number, uniform over all of `u64`.
    #[inline]
    pub(crate) const fn next(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        number
    }

    /// A number strictly between 0 and 1: the middle of one of 2⁵² equal cells, so that neither `ln u` nor
    /// `ln (1 - u)` is ever infinite.
    #[inline]
    pub(crate) const fn open_unit(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
    }

    /// A number in `0..n`, all equally likely; `n` is at least 1.
    ///
    /// Lemire, "Fast random integer generation in an interval" (2019): the upper half of a product with `n`, drawn
    /// again where the lower half falls into the 2⁶⁴ mod n values that would make some numbers likelier.
    #[inline]
    pub(crate) const fn below(&mut self, n: u64) -> u64 {
        loop {
            let product = self.next() as u128 * n as u128;
            let low = product as u64;
            // The division is needed only in the rare case that the lower half is below n.
            if low >= n || low >= n.wrapping_neg() % n {
                return (product >> 64) as u64;
            }
        }
    }
}

/// The output function of SplitMix64.
#[inline]
pub(crate) const fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
impl Draws {
    /// The generator of which the next number is `number`: SplitMix64 is a bijection, so undo its output function.
    pub(crate) fn starting_with(number: u64) -> Self {
        let unshift = |z: u64, by: u32| {
            let mut undone = z;
            for _ in 0..64 / by {
                undone = z ^ (undone >> by);
            }
            undone
        };
        let z = unshift(number, 31).wrapping_mul(0x3196_42b2_d24d_8ec3);
        let z = unshift(z, 27).wrapping_mul(0x96de_1b17_3f11_9089);
        Draws(unshift(z, 30).wrapping_sub(GOLDEN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The reference implementation's first outputs from the seed 1234567.
        let mut draws = Draws(1_234_567);
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!([draws.next(), draws.next(), draws.next()], published);
    }

    #[test]
    fn a_unit_number_is_never_0_and_never_1() {
        assert_eq!(first_unit(0), 0.5 / (1_u64 << 52) as f64);
        assert_eq!(first_unit(u64::MAX), 1.0 - 0.5 / (1_u64 << 52) as f64);
        let mean = (0..100_000)
            .map(|seq| Draws::of(1, 2, seq).open_unit())
            .sum::<f64>()
            / 100_000.0;
        // The standard error of the mean is 1/√(12·100 000), 0.00091.
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
    }

    /// The cell of the highest 52 bits of `number`.
    fn first_unit(number: u64) -> f64 {
        Draws::starting_with(number).open_unit()
    }

    #[test]
    fn every_number_below_three_quarters_of_the_range_is_equally_likely() {
        // Without rejection, for n = 3·2⁶², every third number would come twice as often as the others.
        let n = 3 << 62;
        let mut by_rest = [0_u32; 3];
        for seq in 0..90_000 {
            let number = Draws::of(1, 1, seq).below(n);
            assert!(number < n);
            by_rest[(number % 3) as usize] += 1;
        }
        // 30 000 each; five standard deviations of a binomial count are 707.
        for count in by_rest {
            assert!(count.abs_diff(30_000) < 707, "{by_rest:?}");
        }
    }
}
