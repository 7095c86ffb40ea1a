//! What a cache of a given size answers.

/// The characteristic time of a cache that evicts the least recently used (Che, Tung and Wang, 2002): the number of
/// requests after which as many keys as the cache holds have been asked for. `resident(time)` is the mean number of
/// different keys in `time` requests. `None` where there are never so many.
pub(super) fn characteristic(capacity: f64, resident: impl Fn(f64) -> f64) -> Option<f64> {
    // In ln T, for T may be many powers of ten above the capacity; never below it, as a request asks for one key.
    let excess = |log: f64| resident(libm::exp(log)) - capacity;
    let mut low = libm::log(capacity);
    let mut at_low = excess(low);
    if at_low >= 0.0 {
        return Some(capacity);
    }
    let mut step = 1.0;
    let (mut high, mut at_high);
    loop {
        high = low + step;
        if high > 700.0 {
            return None;
        }
        at_high = excess(high);
        if at_high >= 0.0 {
            break;
        }
        (low, at_low, step) = (high, at_high, step * 2.0);
    }
    // Regula falsi as by Illinois, with a bisection in every fourth step.
    let mut side = 0;
    for round in 0..200 {
        let secant = (low * at_high - high * at_low) / (at_high - at_low);
        let middle = if round % 4 == 3 || !(secant > low && secant < high) {
            0.5 * (low + high)
        } else {
            secant
        };
        let at_middle = excess(middle);
        if at_middle == 0.0 || high - low < 1e-13 * high.abs().max(1.0) {
            return Some(libm::exp(middle));
        }
        if at_middle < 0.0 {
            (low, at_low) = (middle, at_middle);
            at_high *= if side == -1 { 0.5 } else { 1.0 };
            side = -1;
        } else {
            (high, at_high) = (middle, at_middle);
            at_low *= if side == 1 { 0.5 } else { 1.0 };
            side = 1;
        }
    }
    Some(libm::exp(0.5 * (low + high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_equally_likely_keys_is_known_in_closed_form() {
        for (keys, capacity) in [(2.0, 1.0), (1000.0, 1.0), (1000.0, 500.0), (1e9, 1e9 - 1.0)] {
            let time = characteristic(capacity, |time| -keys * f64::exp_m1(-time / keys)).unwrap();
            let exact = -keys * f64::ln_1p(-capacity / keys);
            assert!((time / exact - 1.0).abs() < 1e-6, "{time} {exact}");
        }
    }

    #[test]
    fn a_cache_that_never_fills_has_no_time() {
        assert_eq!(characteristic(10.0, |time: f64| time.min(9.0)), None);
    }
}
