//! What a sweep says of the objective at each rate.

use super::units::{Ns, percent, rate};
use crate::schema::{Capacity, Finding, Step, Sweep};

/// What every sweep shows of the response anyway.
const SHOWN: [&str; 5] = ["p50", "p95", "p99", "mean", "errors"];

/// A bound without its limit: `ttft.p99` of `ttft.p99 <= 200 ms`.
pub(crate) fn statistic(bound: &str) -> &str {
    let ends = [" <= ", " >= "].map(|sign| bound.rfind(sign));
    let end = ends.into_iter().flatten().max().unwrap_or(bound.len());
    let what = &bound[..end];
    // What a good answer keeps stands in the objective.
    what.split_once('(').map_or(what, |(name, _)| name)
}

/// The bounds of the objective that a sweep does not show otherwise: their places in [`Step::bounds`], and what they are on.
pub(crate) fn bounds(sweep: &Sweep) -> Vec<(usize, &str)> {
    let any = sweep.points.iter().find(|step| !step.bounds.is_empty());
    let bounds = any
        .into_iter()
        .flat_map(|step| step.bounds.iter().enumerate());
    bounds
        .map(|(place, finding)| (place, statistic(&finding.bound)))
        .filter(|(_, statistic)| !SHOWN.contains(statistic))
        .collect()
}

/// What was measured of one of them.
pub(crate) fn measured(step: &Step, place: usize) -> String {
    step.bounds.get(place).map_or_else(String::new, value)
}

fn value(finding: &Finding) -> String {
    let Some(value) = finding.value else {
        return String::new();
    };
    let shown = match finding.unit.as_str() {
        "share" => percent(value),
        "per_second" => rate(value),
        _ => Ns(value).to_string(),
    };
    match finding.at_least {
        true => format!("≥ {shown}"),
        false => shown,
    }
}

/// A rate of requests as one of what rates were given in: `1600 output tokens/s`.
pub(crate) fn counted(sweep: &Sweep, per_second: f64) -> Option<String> {
    let counted = sweep.counted.as_ref()?;
    let n = rate(per_second * counted.per_request);
    let n = n.strip_suffix("/s").unwrap_or(&n);
    Some(format!("{n} {}/s", counted.name.replace('_', " ")))
}

/// What is known of a capacity, in both units where there are two.
pub(crate) fn capacity(sweep: &Sweep, capacity: &Capacity) -> String {
    let in_counts = capacity.rate.and_then(|rate| counted(sweep, rate));
    match in_counts {
        Some(counts) => format!("{}; that is {counts}", capacity.text),
        None => capacity.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_named_without_its_limit() {
        for (bound, name) in [
            ("ttft.p99 <= 200 ms", "ttft.p99"),
            ("p99[a <= b] <= 4S", "p99[a <= b]"),
            ("goodput(ttft <= 200ms) >= 99 %", "goodput"),
            ("achieved >= 5/s", "achieved"),
        ] {
            assert_eq!(statistic(bound), name);
        }
    }
}
