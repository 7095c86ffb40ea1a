//! The figures of a plan as people read them.

use super::units::{Ns, percent, rate};
use crate::schema::PlanItem;

/// A value in its unit: `count`, `per_second`, `seconds`, `bytes` or `share`.
pub(crate) fn shown(value: f64, unit: &str) -> String {
    match unit {
        "per_second" => rate(value),
        "seconds" => Ns(value * 1e9).to_string(),
        "share" => percent(value),
        "bytes" => bytes(value),
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

/// What went into a figure: `λ_peak = 10000/s, λ_knee = 1400/s`.
pub(crate) fn inputs(item: &PlanItem) -> String {
    let written = |(symbol, value): (&str, String)| format!("{symbol} = {value}");
    let inputs = item.inputs.iter();
    let inputs = inputs.map(|input| (input.symbol.as_str(), shown(input.value, &input.unit)));
    inputs.map(written).collect::<Vec<_>>().join(", ")
}

fn bytes(value: f64) -> String {
    let names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = value;
    let mut name = 0;
    while value >= 1024.0 && name + 1 < names.len() {
        value /= 1024.0;
        name += 1;
    }
    let text = match value {
        value if value.fract() == 0.0 => format!("{value:.0}"),
        value => format!("{value:.1}"),
    };
    format!("{text} {}", names[name])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_in_their_units() {
        for (value, unit, text) in [
            (8.0, "count", "8"),
            (12.34, "count", "12.3"),
            (1400.0, "per_second", "1400/s"),
            (0.12, "seconds", "120 ms"),
            (0.48, "share", "48 %"),
            (512.0, "bytes", "512 B"),
            (2_147_483_648.0, "bytes", "2 GiB"),
        ] {
            assert_eq!(shown(value, unit), text);
        }
    }
}
