//! Keys that are hot, and keys that move.

use crate::svg::{Axis, COLOURS, Svg};
use openloop_workload::Keys;
use std::error::Error;

/// What the hottest keys take of the requests.
pub(crate) fn hot() -> Result<String, Box<dyn Error>> {
    const KEYS: f64 = 1e6;
    let mut svg =
        Svg::new("share of the requests on the hottest keys, for four laws of a million keys");
    let (x, y) = (Axis::x(1.0, KEYS).log(), Axis::y(0.0, 1.0));
    svg.y_axis(
        &y,
        &[
            (0.0, "0 %"),
            (0.25, "25 %"),
            (0.5, "50 %"),
            (0.75, "75 %"),
            (1.0, "100 %"),
        ],
    );
    let ticks = [
        (1.0, "1"),
        (1e2, "100"),
        (1e4, "10 000"),
        (2e5, "20 %"),
        (1e6, "all"),
    ];
    svg.x_axis(
        &x,
        &ticks,
        "share of the requests on the hottest keys, of a million",
    );
    // Every whole number at first, then steps of equal ratio.
    let counts = (1..20).map(f64::from).chain((0..=45).map(|step| {
        let part = 1.3 / 6.0 + (1.0 - 1.3 / 6.0) * f64::from(step) / 45.0;
        x.value(part).round()
    }));
    let laws = [
        "zipf:1e6:1.2",
        "zipf:1e6:0.99",
        "zipf:1e6:80/20",
        "uniform:1e6",
    ];
    let laws: Vec<_> = laws.into_iter().zip(COLOURS).collect();
    for (law, colour) in &laws {
        let keys: Keys = law.parse()?;
        let points: Vec<_> = counts
            .clone()
            .map(|hottest| (x.at(hottest), y.at(keys.hit_rate(hottest as u64))))
            .collect();
        svg.line(&points, colour);
    }
    svg.legend((x.at(1.4), y.at(0.94)), "start", &laws);
    Ok(svg.finish())
}

/// Each request a dot.
pub(crate) fn drift() -> Result<String, Box<dyn Error>> {
    const KEYS: f64 = 200.0;
    const REQUESTS: u32 = 1_200;
    let keys: Keys = "zipf:200:1.1:drift=20/200".parse()?;
    let mut svg = Svg::new("the key of each request: the hot keys move on every 200 requests");
    let (x, y) = (Axis::x(0.0, f64::from(REQUESTS)), Axis::y(0.0, KEYS));
    svg.y_axis(
        &y,
        &[
            (1.0, "1"),
            (50.0, "50"),
            (100.0, "100"),
            (150.0, "150"),
            (200.0, "200"),
        ],
    );
    let ticks = [
        (0.0, "0"),
        (200.0, "200"),
        (400.0, "400"),
        (600.0, "600"),
        (800.0, "800"),
        (1000.0, "1000"),
        (1200.0, "1200"),
    ];
    svg.x_axis(
        &x,
        &ticks,
        "the key of each request by its number, zipf:200:1.1:drift=20/200",
    );
    let dots: Vec<_> = (0..REQUESTS)
        .map(|seq| {
            let key = keys.key(1, u64::from(seq)) as f64;
            (x.at(f64::from(seq)), y.at(key))
        })
        .collect();
    svg.dots(&dots, 1.3, COLOURS[0]);
    Ok(svg.finish())
}
