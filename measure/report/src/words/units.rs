//! Numbers as people read them.

use std::fmt;

/// Nanoseconds with three significant digits: `834 ns`, `1.23 ms`, `59.1 s`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ns(pub(crate) f64);

/// Unit by unit: nanoseconds in one, and its name.
const UNITS: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];

impl Ns {
    /// The figure and its unit. Rounding comes first: 999.7 µs are 1.00 ms.
    fn parts(self) -> (String, &'static str) {
        let ns = self.0.max(0.0);
        for (scale, unit) in UNITS {
            let value = ns / scale;
            if value < 999.5 || unit == "s" {
                // There is no fraction of a nanosecond to show, except in means.
                let whole = unit == "ns" && ns.fract() == 0.0;
                return (
                    if whole {
                        format!("{ns:.0}")
                    } else {
                        three(value)
                    },
                    unit,
                );
            }
        }
        (String::new(), "s")
    }

    /// An interval, with its unit once where both ends have the same: `11.8–12.9 ms`. Ends that read the same are
    /// written once.
    pub(crate) fn interval(low: u64, high: u64) -> String {
        let (low, low_unit) = Ns(low as f64).parts();
        let (high, high_unit) = Ns(high as f64).parts();
        match low_unit == high_unit || low == "0" {
            true if low == high => format!("{high} {high_unit}"),
            true => format!("{low}–{high} {high_unit}"),
            false => format!("{low} {low_unit}–{high} {high_unit}"),
        }
    }
}

impl fmt::Display for Ns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (figure, unit) = self.parts();
        f.pad(&format!("{figure} {unit}"))
    }
}

/// Three significant digits, or all those before the point.
fn three(value: f64) -> String {
    let digits = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}

/// A rate: `2000/s`, `12.5/s`, `0.05/s`.
pub(crate) fn rate(per_second: f64) -> String {
    let digits = match per_second.abs() {
        rate if rate >= 999.95 => 0,
        rate if rate >= 99.995 => 1,
        _ => 2,
    };
    format!("{}/s", trimmed(&format!("{per_second:.digits$}")))
}

/// Without the zeros that end a fraction.
fn trimmed(figure: &str) -> &str {
    match figure.contains('.') {
        true => figure.trim_end_matches('0').trim_end_matches('.'),
        false => figure,
    }
}

/// A length of a phase or a run: `90 ms`, `12.5 s`, `300 s`.
pub(crate) fn length(ns: u64) -> String {
    let secs = ns as f64 / 1e9;
    if ns < 1_000_000_000 {
        let (figure, unit) = Ns(ns as f64).parts();
        return format!("{} {unit}", trimmed(&figure));
    }
    format!("{} s", trimmed(&format!("{secs:.1}")))
}

/// A share as percent: `0.03 %`, `45 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = match percent {
        percent if percent == 0.0 || percent >= 9.95 => 0,
        percent if percent >= 0.995 => 1,
        _ => 2,
    };
    format!("{percent:.digits$} %")
}

/// A count with a thin grouping of its thousands: `72 000`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) && digits.len() > 4 {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_significant_digits_in_the_unit_that_fits() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (834.0, "834 ns"),
            (12.5, "12.5 ns"),
            (999.0, "999 ns"),
            (999.7, "1.00 µs"),
            (1_000.0, "1.00 µs"),
            (9_994.0, "9.99 µs"),
            (9_996.0, "10.0 µs"),
            (123_456.0, "123 µs"),
            (999_700.0, "1.00 ms"),
            (59_100_000_000.0, "59.1 s"),
            (3_600_000_000_000.0, "3600 s"),
        ] {
            assert_eq!(Ns(ns).to_string(), text);
        }
    }

    #[test]
    fn an_interval_names_its_unit_once_where_it_can() {
        assert_eq!(Ns::interval(11_800_000, 12_900_000), "11.8–12.9 ms");
        assert_eq!(Ns::interval(980_000, 1_020_000), "980 µs–1.02 ms");
        assert_eq!(Ns::interval(0, 1_020_000), "0–1.02 ms");
        assert_eq!(Ns::interval(99_990_000, 100_010_000), "100 ms");
    }

    #[test]
    fn counts_rates_and_shares_are_short() {
        assert_eq!(
            [count(7), count(9999), count(72_000)],
            ["7", "9999", "72 000"]
        );
        assert_eq!(
            [rate(2000.0), rate(12.5), rate(1998.4)],
            ["2000/s", "12.5/s", "1998/s"]
        );
        assert_eq!(
            [percent(0.0003), percent(0.0), percent(0.451)],
            ["0.03 %", "0 %", "45 %"]
        );
        assert_eq!(
            [length(90_000_000), length(12_500_000_000)],
            ["90 ms", "12.5 s"]
        );
    }
}
