//! Where a monotone function crosses a value.

/// The x in `lo..=hi` at which the falling function `tail` goes below `target`, to the last bit of `f64`.
///
/// Bisection: never leaves the bracket, whatever rounding does to the function, and ends after 1100 halvings at most.
pub(crate) fn falls_below(tail: impl Fn(f64) -> f64, target: f64, lo: f64, hi: f64) -> f64 {
    let (mut lo, mut hi) = (lo, hi);
    for _ in 0..1100 {
        let middle = lo + 0.5 * (hi - lo);
        if middle <= lo || middle >= hi {
            break;
        }
        if tail(middle) > target {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    hi
}

/// As [`falls_below`], from `guess` > 0 on, which is doubled until the function is below `target` there.
pub(crate) fn falls_below_from(tail: impl Fn(f64) -> f64, target: f64, guess: f64) -> f64 {
    let (mut lo, mut hi) = (0.0, guess);
    for _ in 0..2100 {
        if tail(hi) <= target {
            break;
        }
        (lo, hi) = (hi, 2.0 * hi);
    }
    falls_below(tail, target, lo, hi)
}
