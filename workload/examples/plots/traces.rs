//! A trace that is replayed.

use crate::svg::{Axis, COLOURS, Svg};
use openloop_workload::Values;
use openloop_workload::traces::{Trace, TraceRequest};
use std::error::Error;

/// Requests per second of a made-up trace, as recorded and at twice the speed.
pub(crate) fn trace() -> Result<String, Box<dyn Error>> {
    const SECONDS: usize = 120;
    let gaps: Values = "hyperexponential:mean=0.25,cv=3".parse()?;
    let mut at = 0.0;
    let requests = (0..).map_while(|seq| {
        at += gaps.value(5, seq);
        (at < SECONDS as f64).then(|| TraceRequest::at((at * 1e9) as u64))
    });
    let trace = Trace::new(requests.collect());
    let mut svg =
        Svg::new("requests per second of a trace over time, as recorded and at twice the speed");
    let (x, y) = (Axis::x(0.0, SECONDS as f64), Axis::y(0.0, 30.0));
    svg.y_axis(
        &y,
        &[(0.0, "0"), (10.0, "10"), (20.0, "20"), (30.0, "30/s")],
    );
    let ticks = [
        (0.0, "0"),
        (30.0, "30"),
        (60.0, "60"),
        (90.0, "90"),
        (120.0, "120 s"),
    ];
    svg.x_axis(&x, &ticks, "requests per second over time");
    for (scale, colour, name, height) in [
        (0.5, COLOURS[1], "offsets(0.5): in half the time", 27.5),
        (1.0, COLOURS[0], "offsets(1.0): as recorded", 24.0),
    ] {
        let mut per_second = vec![0.0; SECONDS];
        for offset in trace.offsets(scale)? {
            if let Some(second) = per_second.get_mut(offset.as_secs() as usize) {
                *second += 1.0;
            }
        }
        let mut points = Vec::new();
        for (second, count) in per_second
            .into_iter()
            .enumerate()
            .take((scale * SECONDS as f64) as usize)
        {
            points.push((x.at(second as f64), y.at(count)));
            points.push((x.at(second as f64 + 1.0), y.at(count)));
        }
        svg.line(&points, colour);
        svg.text((x.at(66.0), y.at(height)), "start", colour, name);
    }
    Ok(svg.finish())
}
