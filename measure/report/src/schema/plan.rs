//! What has to be bought and set for a peak.

use super::finite;
use openloop_capacity::plan::{Input, Item, Missing};
use openloop_capacity::{Plan as Computed, plan};
use serde::{Deserialize, Serialize};

/// Nodes, pools, memory and timeouts for a peak, each with its formula and what went into it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Plan {
    /// The peak that it is for, arrivals per second.
    pub peak_rate: f64,
    /// What follows from what was measured.
    pub items: Vec<PlanItem>,
    /// What does not, and what for want of.
    pub missing: Vec<PlanMissing>,
}

/// A figure of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PlanItem {
    /// What it is about: `nodes`, `pool_per_node`, `timeout`, …
    pub quantity: String,
    /// The same in words.
    pub name: String,
    /// The figure, in its unit.
    pub value: f64,
    /// `count`, `per_second`, `seconds`, `bytes` or `share`.
    pub unit: String,
    /// How it was computed.
    pub formula: String,
    /// From what.
    pub inputs: Vec<PlanInput>,
    /// What to know about it.
    pub why: String,
}

/// A value that went into a formula.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PlanInput {
    /// Its symbol in the formula.
    pub symbol: String,
    /// The value, in its unit.
    pub value: f64,
    /// As that of the figure.
    pub unit: String,
}

/// A figure that could not be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PlanMissing {
    /// What it is about.
    pub quantity: String,
    /// The same in words.
    pub name: String,
    /// What would have to be known.
    pub needs: String,
}

impl Plan {
    /// For `peak` arrivals per second; a figure that is not finite is none.
    pub(crate) fn of(plan: &Computed, peak: f64) -> Self {
        Plan {
            peak_rate: peak,
            items: plan.items.iter().filter_map(PlanItem::of).collect(),
            missing: plan.missing.iter().map(PlanMissing::of).collect(),
        }
    }
}

impl PlanItem {
    fn of(item: &Item) -> Option<Self> {
        let input = |input: &Input| {
            Some(PlanInput {
                symbol: input.symbol.clone(),
                value: finite(input.value)?,
                unit: unit(input.unit).to_owned(),
            })
        };
        Some(PlanItem {
            quantity: quantity(item.quantity),
            name: item.quantity.to_string(),
            value: finite(item.value)?,
            unit: unit(item.unit).to_owned(),
            formula: item.formula.clone(),
            inputs: item.inputs.iter().map(input).collect::<Option<_>>()?,
            why: item.why.clone(),
        })
    }
}

impl PlanMissing {
    fn of(missing: &Missing) -> Self {
        PlanMissing {
            quantity: quantity(missing.quantity),
            name: missing.quantity.to_string(),
            needs: missing.needs.clone(),
        }
    }
}

/// As `loadgen capacity` calls it.
fn quantity(quantity: plan::Quantity) -> String {
    let name = serde_json::to_value(quantity).ok();
    let name = name.and_then(|name| name.as_str().map(str::to_owned));
    name.unwrap_or_default()
}

fn unit(unit: plan::Unit) -> &'static str {
    match unit {
        plan::Unit::PerSecond => "per_second",
        plan::Unit::Seconds => "seconds",
        plan::Unit::Bytes => "bytes",
        plan::Unit::Share => "share",
        // A unit that is younger than this renderer.
        _ => "count",
    }
}
