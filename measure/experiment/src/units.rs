//! Figures as a person reads them.

use std::fmt;

/// Nanoseconds in a unit that a person reads.
pub(crate) struct Ns(pub(crate) f64);

impl fmt::Display for Ns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            ns if ns < 1e3 => (ns, "ns"),
            ns if ns < 1e6 => (ns / 1e3, "µs"),
            ns if ns < 1e9 => (ns / 1e6, "ms"),
            ns => (ns / 1e9, "s"),
        };
        write!(f, "{} {unit}", Short(value))
    }
}

/// A number with about three digits, and no zeros at its end.
pub(crate) struct Short(pub(crate) f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.0.abs() {
            value if value >= 100.0 => 0,
            value if value >= 10.0 => 1,
            value if value >= 0.1 || value == 0.0 => 2,
            // Small is not nothing.
            value => (1.0 - value.log10().floor()).min(12.0) as usize,
        };
        let value = self.0;
        let text = format!("{value:.digits$}");
        f.write_str(match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.'),
            false => &text,
        })
    }
}

/// A share as percent.
pub(crate) struct Percent(pub(crate) f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", Short(self.0 * 100.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_is_not_printed_as_nothing() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.000_04, "0.004 %"),
            (0.000_012_34, "0.0012 %"),
            (0.005_89, "0.59 %"),
            (0.5, "50 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(Percent(share).to_string(), text);
        }
        assert_eq!(Ns(0.0).to_string(), "0 ns");
        assert_eq!(Ns(1_234_567.0).to_string(), "1.23 ms");
        assert_eq!(Short(-0.034).to_string(), "-0.034");
    }
}
