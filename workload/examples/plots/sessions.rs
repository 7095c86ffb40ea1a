//! Users who come in sessions.

use crate::svg::{Axis, COLOURS, HEIGHT, Svg, TOP};
use openloop_workload::Values;
use openloop_workload::sessions::Sessions;
use std::error::Error;

/// Sessions one below the other: requests, and the thinking between them.
pub(crate) fn sessions() -> Result<String, Box<dyn Error>> {
    const SECONDS: f64 = 60.0;
    /// What the server takes for each answer here.
    const RESPONSE: f64 = 1.2;
    let plan = Sessions::new("exponential:4".parse()?, "lognormal:mean=6,cv=0.8".parse()?)?;
    let gaps: Values = "exponential:4.5".parse()?;
    let mut svg =
        Svg::new("sessions that arrive at random, each with requests and thinking between them");
    let x = Axis::x(0.0, SECONDS);
    let ticks = [
        (0.0, "0"),
        (15.0, "15"),
        (30.0, "30"),
        (45.0, "45"),
        (60.0, "60 s"),
    ];
    svg.x_axis(
        &x,
        &ticks,
        "a block is a request, a line is the user thinking",
    );
    let (mut arrival, mut session) = (0.0, 0);
    while arrival < SECONDS - 2.0 {
        let y = TOP + 6.0 + 12.5 * session as f64;
        if y > HEIGHT - 50.0 {
            break;
        }
        let mut at = arrival;
        for step in 0..plan.steps(3, session) {
            if step > 0 {
                let thought = at + plan.think(3, session, step).as_secs_f64();
                svg.rule((x.at(at), y), (x.at(thought.min(SECONDS)), y), 0.6);
                at = thought;
            }
            if at >= SECONDS {
                break;
            }
            let colour = if step == 0 { COLOURS[1] } else { COLOURS[0] };
            let end = (at + RESPONSE).min(SECONDS);
            svg.block((x.at(at), y - 4.0), (x.at(end), y + 4.0), colour);
            at += RESPONSE;
        }
        arrival += gaps.value(11, session);
        session += 1;
    }
    svg.legend(
        (x.at(0.6), HEIGHT - 68.0),
        "start",
        &[
            ("first request: when the schedule says", COLOURS[1]),
            ("later ones: when the user is ready", COLOURS[0]),
        ],
    );
    Ok(svg.finish())
}
