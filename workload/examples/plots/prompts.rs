//! Prompts that share prefixes.

use crate::svg::{Axis, COLOURS, Svg, TOP};
use openloop_workload::prompts::{Level, PrefixTree, Prompts, Role};
use std::collections::HashSet;
use std::error::Error;

/// Prompts one below the other: what came before, and what is new.
pub(crate) fn prompts() -> Result<String, Box<dyn Error>> {
    const PROMPTS: u32 = 12;
    let levels = [
        Level {
            nodes: 2,
            tokens: 500,
        },
        Level {
            nodes: 4,
            tokens: 700,
        },
    ];
    let prompts = Prompts::new(
        "lognormal:mean=400,cv=0.7,min=20,max=1000".parse()?,
        "fixed:100".parse()?,
    )?
    .prefixes(PrefixTree::new(&levels, 1.0)?);
    let mut svg = Svg::new(
        "twelve prompts in tokens: the parts that earlier prompts began with, and the new ones",
    );
    let x = Axis::x(0.0, 2_200.0);
    let ticks = [
        (0.0, "0"),
        (500.0, "500"),
        (1_200.0, "1200"),
        (2_000.0, "2000"),
    ];
    svg.x_axis(&x, &ticks, "tokens of twelve prompts, the first at the top");
    let (mut seen, mut known_tokens, mut tokens) = (HashSet::new(), 0, 0);
    for seq in 0..PROMPTS {
        let y = TOP + 12.5 * f64::from(seq);
        let (mut from, mut all_known) = (0.0, true);
        for segment in &prompts.prompt(2, u64::from(seq)).segments {
            // A cache keeps beginnings: what follows something new is new.
            all_known &= segment.role == Role::System && !seen.insert(segment.content);
            let to = from + f64::from(segment.tokens);
            let colour = match (segment.role, all_known) {
                (_, true) => COLOURS[2],
                (Role::System, false) => COLOURS[1],
                _ => COLOURS[0],
            };
            svg.block((x.at(from), y), (x.at(to) - 1.0, y + 9.5), colour);
            tokens += segment.tokens;
            known_tokens += if all_known { segment.tokens } else { 0 };
            from = to;
        }
    }
    let share = 100.0 * f64::from(known_tokens) / f64::from(tokens);
    svg.legend(
        (x.at(2_200.0), TOP + 10.0),
        "end",
        &[
            (&format!("cached, {share:.0} %"), COLOURS[2]),
            ("shared, seen first", COLOURS[1]),
            ("the user's own", COLOURS[0]),
        ],
    );
    Ok(svg.finish())
}
