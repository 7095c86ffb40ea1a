//! Axes: from values to places, and the numbers beside them.

use crate::words::units::{Ns, length};

/// From a value to a place on an axis, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Scale {
    /// From one value to another.
    Linear(f64, f64),
    /// The same for powers: both are above 0.
    Log(f64, f64),
}

impl Scale {
    /// Where `value` lies; what lies outside is put at the edge.
    pub(in super::super) fn place(self, value: f64) -> f64 {
        let place = match self {
            Scale::Linear(from, to) => (value - from) / (to - from),
            Scale::Log(from, to) => (value.max(from) / from).ln() / (to / from).ln(),
        };
        // Also where the scale has no length.
        if place.is_finite() {
            place.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Up to a round value that is at least `most`, from 0.
    pub(in super::super) fn from_zero(most: f64) -> Scale {
        let most = if most > 0.0 { most } else { 1.0 };
        let step = nice(most / 4.0);
        Scale::Linear(0.0, (most / step).ceil() * step)
    }

    /// Of durations: from 0 where they are alike, by powers where they are not.
    pub(in super::super) fn of_durations(least: f64, most: f64) -> Scale {
        if most <= 0.0 || least * 12.0 > most {
            return Scale::from_zero(most);
        }
        // Below a thousand-millionth of the largest, nothing can be told apart.
        let least = least.max(most / 1e9).max(1.0);
        Scale::Log(round_down(least), round_up(most.max(least * 10.0)))
    }

    /// Round values, about `count` of them.
    fn ticks(self, count: usize) -> Vec<f64> {
        match self {
            Scale::Linear(from, to) => {
                let step = nice((to - from) / count.max(1) as f64);
                let first = (from / step).ceil();
                (0..64)
                    .map(|k| (first + f64::from(k)) * step)
                    .take_while(|tick| *tick <= to * (1.0 + 1e-9))
                    .collect()
            }
            Scale::Log(from, to) => {
                let decades = (to / from).log10();
                let within: &[f64] = match decades {
                    few if few <= 1.5 => &[1.0, 2.0, 3.0, 5.0],
                    few if few <= 2.5 => &[1.0, 3.0],
                    _ => &[1.0],
                };
                let every = (decades / count.max(1) as f64).ceil().max(1.0) as i32;
                let (low, high) = (from.log10().floor() as i32, to.log10().ceil() as i32);
                let powers = (low..=high).filter(|power| power % every == 0);
                powers
                    .flat_map(|power| within.iter().map(move |step| step * 10_f64.powi(power)))
                    .filter(|tick| (from * (1.0 - 1e-9)..=to * (1.0 + 1e-9)).contains(tick))
                    .collect()
            }
        }
    }
}

/// The round number next to `x` and not below it: 1, 2 or 5 times a power of ten.
fn nice(x: f64) -> f64 {
    let power = 10_f64.powf(x.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let found = steps.into_iter().find(|step| *step >= x * (1.0 - 1e-9));
    found.unwrap_or(x)
}

fn round_down(x: f64) -> f64 {
    let power = 10_f64.powf(x.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|step| step * power);
    steps.into_iter().find(|step| *step <= x).unwrap_or(power)
}

fn round_up(x: f64) -> f64 {
    nice(x)
}

/// The numbers of an axis of durations in nanoseconds: where, and what is written there.
pub(super) fn axis_ns(scale: Scale, count: usize) -> Vec<(f64, String)> {
    let ticks = scale.ticks(count).into_iter();
    ticks.map(|ns| (scale.place(ns), short(ns))).collect()
}

/// A round duration without the zeros behind its point.
fn short(ns: f64) -> String {
    let text = Ns(ns).to_string();
    match text.split_once(' ') {
        Some((figure, unit)) if figure.contains('.') => {
            let figure = figure.trim_end_matches('0').trim_end_matches('.');
            format!("{figure} {unit}")
        }
        _ => text,
    }
}

/// The numbers of an axis of anything that is counted.
pub(super) fn axis_count(scale: Scale, count: usize) -> Vec<(f64, String)> {
    let ticks = scale.ticks(count).into_iter();
    ticks.map(|n| (scale.place(n), thousands(n))).collect()
}

/// `1500`, `15k`, `2.5M`, `0.2`.
fn thousands(n: f64) -> String {
    let (n, unit) = match n.abs() {
        n_abs if n_abs >= 1e6 => (n / 1e6, "M"),
        n_abs if n_abs >= 1e4 => (n / 1e3, "k"),
        _ => (n, ""),
    };
    // Steps are 1, 2 or 5 times a power of ten: six digits hide what is not exact in binary.
    let text = format!("{n:.6}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The numbers of an axis of shares, in percent; with a sign where they are of a change.
pub(super) fn axis_share(scale: Scale, count: usize, is_signed: bool) -> Vec<(f64, String)> {
    let written = |share: f64| {
        let percent = thousands(share * 100.0);
        match (is_signed, percent.as_str()) {
            (true, "0" | "-0") => "same".to_owned(),
            (true, percent) if !percent.starts_with('-') => format!("+{percent} %"),
            (_, percent) => format!("{} %", percent.replace('-', "−")),
        }
    };
    let ticks = scale.ticks(count).into_iter();
    ticks
        .map(|share| (scale.place(share), written(share)))
        .collect()
}

/// An axis of rates per second, from 0 to a round one that is at least `most`.
pub(in super::super) fn axis_rate(most: f64) -> XAxis {
    let most = if most > 0.0 { most } else { 1.0 };
    let step = nice(most / 8.0);
    let scale = Scale::Linear(0.0, (most / step).ceil() * step);
    XAxis {
        scale,
        ticks: [10, 5, 4, 2].map(|count| axis_count(scale, count)).into(),
    }
}

/// The horizontal axis of a figure.
#[derive(Clone, Debug)]
pub(in super::super) struct XAxis {
    pub(in super::super) scale: Scale,
    /// What is written where, from the most numbers to the fewest.
    pub(in super::super) ticks: Vec<Vec<(f64, String)>>,
}

impl XAxis {
    /// The most numbers that stand at least the share `gap` of the axis apart.
    pub(super) fn ticks(&self, gap: f64) -> &[(f64, String)] {
        let fits =
            |ticks: &&Vec<(f64, String)>| ticks.windows(2).all(|pair| pair[1].0 - pair[0].0 >= gap);
        let found = self.ticks.iter().find(fits).or(self.ticks.last());
        found.map_or(&[], Vec::as_slice)
    }
}

/// An axis of the time since the start of a run, in nanoseconds.
pub(in super::super) fn axis_time(end_ns: f64) -> XAxis {
    const STEPS: [u64; 19] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200,
        86_400, 172_800,
    ];
    let scale = Scale::Linear(0.0, end_ns);
    let seconds = end_ns / 1e9;
    let of_step = |step: u64| {
        let last = (seconds / step as f64 + 1e-9).floor() as u64;
        let ticks = (0..=last).map(|k| k * step);
        ticks
            .map(|at| (scale.place(at as f64 * 1e9), time(at)))
            .collect::<Vec<_>>()
    };
    let ticks = match seconds < 3.0 {
        true => vec![scale.ticks(6), scale.ticks(3)]
            .into_iter()
            .map(|ticks| {
                ticks
                    .into_iter()
                    .map(|ns| (scale.place(ns), length(ns as u64)))
                    .collect()
            })
            .collect(),
        false => STEPS
            .into_iter()
            .filter(|step| seconds / (*step as f64) < 14.0)
            .map(of_step)
            .collect(),
    };
    XAxis { scale, ticks }
}

/// `45 s`, `2 min`, `1:30 min`, `3 h`.
fn time(seconds: u64) -> String {
    match seconds {
        0 => "0".to_owned(),
        s if s < 120 => format!("{s} s"),
        s if s % 3600 == 0 => format!("{} h", s / 3600),
        s if s % 60 == 0 => format!("{} min", s / 60),
        s => format!("{}:{:02} min", s / 60, s % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[(f64, String)]) -> Vec<&str> {
        ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn numbers_along_an_axis_are_round_and_within_it() {
        let scale = Scale::from_zero(2310.0);
        assert_eq!(scale, Scale::Linear(0.0, 3000.0));
        assert_eq!(texts(&axis_count(scale, 4)), ["0", "1000", "2000", "3000"]);
        let log = Scale::of_durations(130_000.0, 900_000_000.0);
        assert_eq!(log, Scale::Log(100_000.0, 1e9));
        assert_eq!(
            texts(&axis_ns(log, 6)),
            ["100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
        );
        assert_eq!(
            texts(&axis_count(Scale::from_zero(0.7), 4)),
            ["0", "0.2", "0.4", "0.6", "0.8"]
        );
    }

    #[test]
    fn durations_that_are_alike_start_at_zero() {
        assert!(matches!(
            Scale::of_durations(90.0, 110.0),
            Scale::Linear(0.0, _)
        ));
        assert!(matches!(
            Scale::of_durations(0.0, 0.0),
            Scale::Linear(0.0, 1.0)
        ));
        assert!(matches!(Scale::of_durations(0.0, 5e9), Scale::Log(..)));
    }

    #[test]
    fn a_place_is_always_within_the_picture() {
        for scale in [
            Scale::Linear(0.0, 0.0),
            Scale::Log(10.0, 10.0),
            Scale::Log(1.0, 100.0),
        ] {
            for value in [-1.0, 0.0, 10.0, 1e300, f64::NAN] {
                assert!(
                    (0.0..=1.0).contains(&scale.place(value)),
                    "{scale:?} {value}"
                );
            }
        }
    }

    #[test]
    fn times_are_written_in_the_unit_that_fits() {
        let axis = axis_time(3600e9);
        assert_eq!(
            axis.ticks(0.3),
            [
                (0.0, "0".to_owned()),
                (0.5, "30 min".to_owned()),
                (1.0, "1 h".to_owned())
            ]
        );
        assert_eq!(
            texts(axis_time(45e9).ticks(0.3)),
            ["0", "15 s", "30 s", "45 s"]
        );
        assert_eq!(texts(axis_time(0.2e9).ticks(0.1))[1], "50 ms");
    }
}
