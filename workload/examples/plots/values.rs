//! Sizes that vary.

use crate::svg::{Axis, COLOURS, Svg};
use openloop_workload::Values;
use std::error::Error;

/// Laws of one mean, as shares in steps of equal ratio.
pub(crate) fn sizes() -> Result<String, Box<dyn Error>> {
    const STEPS: u32 = 90;
    let mut svg = Svg::new("where the values of four laws of the mean 200 lie");
    let (x, y) = (Axis::x(10.0, 10_000.0).log(), Axis::y(0.0, 0.1));
    svg.y_axis(
        &y,
        &[
            (0.0, "0 %"),
            (0.025, "2.5 %"),
            (0.05, "5 %"),
            (0.075, "7.5 %"),
            (0.1, "10 %"),
        ],
    );
    let ticks = [
        (10.0, "10"),
        (100.0, "100"),
        (200.0, "200"),
        (1_000.0, "1000"),
        (10_000.0, "10 000"),
    ];
    svg.x_axis(
        &x,
        &ticks,
        "share of the values in equal steps of their logarithm",
    );
    let laws = [
        "gamma:mean=200,cv=0.5",
        "exponential:200",
        "lognormal:mean=200,cv=1.5",
        "hyperexponential:mean=200,cv=3",
    ];
    let laws: Vec<_> = laws.into_iter().zip(COLOURS).collect();
    for (law, colour) in &laws {
        let values: Values = law.parse()?;
        let edge = |step: f64| x.value(step / f64::from(STEPS));
        let points: Vec<_> = (0..STEPS)
            .map(f64::from)
            .map(|step| {
                let share = values.cdf(edge(step + 1.0)) - values.cdf(edge(step));
                (x.at(edge(step + 0.5)), y.at(share))
            })
            .collect();
        svg.line(&points, colour);
    }
    svg.legend((x.at(10_000.0), y.at(0.092)), "end", &laws);
    Ok(svg.finish())
}
