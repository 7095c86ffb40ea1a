//! A plan as a table.

use super::{Input, Item, Plan, Unit};
use std::fmt;

impl Unit {
    /// The value as people write it.
    fn show(self, value: f64) -> String {
        match self {
            Unit::Count if value.fract() == 0.0 => format!("{value}"),
            Unit::Count => digits(value),
            Unit::PerSecond => format!("{}/s", digits(value)),
            Unit::Share => format!("{} %", digits(100.0 * value)),
            Unit::Seconds => scaled(value, 1000.0, &["s", "ms", "\u{b5}s", "ns"]),
            Unit::Bytes => {
                let names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
                let mut value = value;
                let mut larger = names.iter().skip(1);
                let mut name = names[0];
                while value >= 1024.0
                    && let Some(next) = larger.next()
                {
                    (value, name) = (value / 1024.0, next);
                }
                format!("{} {name}", digits(value))
            }
        }
    }
}

/// In the first of the units, each `step` times smaller than the one before, in which it is 1 or more.
fn scaled(value: f64, step: f64, names: &[&str]) -> String {
    let mut value = value;
    for (name, left) in names.iter().zip((0..names.len()).rev()) {
        if value >= 1.0 || left == 0 {
            return format!("{} {name}", digits(value));
        }
        value *= step;
    }
    digits(value)
}

/// Three digits, or all before the point.
fn digits(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 100.0 {
        0
    } else if size >= 10.0 {
        1
    } else if size >= 1.0 {
        2
    } else {
        3
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.symbol, self.unit.show(self.value))
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.unit.show(self.value);
        write!(f, "{:<27}{value:>10}   {}", self.quantity, self.formula)?;
        for (input, before) in self
            .inputs
            .iter()
            .zip([": "].into_iter().chain(std::iter::repeat(", ")))
        {
            write!(f, "{before}{input}")?;
        }
        if self.why.is_empty() {
            return Ok(());
        }
        write!(f, "\n{:40}{}", "", self.why)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for item in &self.items {
            writeln!(f, "{item}")?;
        }
        for missing in &self.missing {
            writeln!(
                f,
                "{:<27}{:>10}   needs {}",
                missing.quantity, "\u{2013}", missing.needs
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_people_write_them() {
        for (unit, value, text) in [
            (Unit::Count, 234.0, "234"),
            (Unit::Count, 12.5, "12.5"),
            (Unit::PerSecond, 10_000.0, "10000/s"),
            (Unit::Share, 0.4812, "48.1 %"),
            (Unit::Seconds, 0.12, "120 ms"),
            (Unit::Seconds, 4.0, "4 s"),
            (Unit::Seconds, 2.5e-7, "250 ns"),
            (Unit::Seconds, 3e-5, "30 \u{b5}s"),
            (Unit::Seconds, 0.0, "0 ns"),
            (Unit::Bytes, 1024.0, "1 KiB"),
            (Unit::Bytes, 132.0e9, "123 GiB"),
            (Unit::Bytes, 12.0, "12 B"),
        ] {
            assert_eq!(unit.show(value), text);
        }
    }
}
