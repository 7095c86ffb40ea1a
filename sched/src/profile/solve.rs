//! The inverse of an integral on the grid of whole nanoseconds.

/// The last `x` in [0, `len`) with `integral(x)` ≤ `target`.
///
/// Requires a non-decreasing `integral` with `integral(0)` ≤ `target` < `integral(len)`, in units of half
/// a nano-hertz nanosecond; `rate` is its slope in nano-hertz. Newton's method from `guess`, kept inside a
/// bracket of integers and replaced by bisection where it leaves that bracket or crawls: floating point
/// steers the search, integers decide, so the answer does not depend on how `rate` rounds.
pub(super) fn last_at_or_below(
    target: u128,
    len: u64,
    guess: u64,
    integral: impl Fn(u64) -> u128,
    rate: impl Fn(u64) -> f64,
) -> u64 {
    const NEWTON_STEPS: u32 = 48;
    let (mut low, mut high, mut x) = (0, len, guess);
    let mut steps = 0;
    while high - low > 1 {
        if x <= low || x >= high || steps > NEWTON_STEPS {
            x = low + (high - low) / 2;
        }
        steps += 1;
        let reached = integral(x);
        let slope = 2.0 * rate(x);
        // At least one: where Newton has converged from one side, the neighbour closes the bracket.
        // `as` saturates, a slope of zero included.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let step = ((reached.abs_diff(target) as f64 / slope) as u64).max(1);
        if reached <= target {
            low = x;
            x = x.saturating_add(step);
        } else {
            high = x;
            x = x.saturating_sub(step);
        }
    }
    low
}
