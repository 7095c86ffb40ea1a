//! Several kinds of request.

use crate::svg::{Axis, COLOURS, LEFT, Svg};
use openloop_workload::Mix;
use openloop_workload::mix::Kind;
use std::error::Error;

/// What comes rarely may be most of the work.
pub(crate) fn shares() -> Result<String, Box<dyn Error>> {
    let mix = Mix::new([
        Kind::new("view", 80.0, ()).with_demand("lognormal:mean=3,cv=0.8".parse()?),
        Kind::new("search", 17.0, ()).with_demand("lognormal:mean=25,cv=1.5".parse()?),
        Kind::new("checkout", 3.0, ()).with_demand("gamma:mean=180,cv=1".parse()?),
    ])?;
    let demand = mix.demand().ok_or("every kind has a demand")?;
    let mut svg = Svg::new("three kinds of request: their shares of the requests and of the work");
    let x = Axis::x(0.0, 1.0);
    let ticks = [
        (0.0, "0 %"),
        (0.25, "25 %"),
        (0.5, "50 %"),
        (0.75, "75 %"),
        (1.0, "100 %"),
    ];
    let title = format!(
        "mean {:.1} ms, C_v {:.1}: (1 + C_v\u{b2})/2 = {:.1}",
        demand.mean,
        demand.cv,
        demand.pollaczek_khinchine()
    );
    svg.x_axis(&x, &ticks, &title);
    for (top, name) in [(26.0, "of the requests"), (115.0, "of the work")] {
        svg.text((LEFT, top - 8.0), "start", "currentColor", name);
        let mut from = 0.0;
        for (share, colour) in mix.shares().iter().zip(COLOURS) {
            let part = match name {
                "of the requests" => share.of_requests,
                _ => share.of_work.ok_or("every kind has a demand")?,
            };
            let (left, right) = (x.at(from), x.at(from + part));
            svg.block((left, top), (right - 1.0, top + 28.0), colour);
            let label = format!("{} {:.0} %", share.name, 100.0 * part);
            // What is too narrow for its name has it a line lower, to the left.
            let (at, line, anchor) = match part < 0.1 {
                true => (right, top + 57.0, "end"),
                false => (left, top + 42.0, "start"),
            };
            svg.text((at, line), anchor, colour, &label);
            from += part;
        }
    }
    Ok(svg.finish())
}
