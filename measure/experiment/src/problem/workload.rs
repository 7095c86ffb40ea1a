//! The third dimension: what requests are like.

use openloop_workload::{Keys, Values};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What requests are like. The laws are those of `openloop-workload`, as text (`"zipf:1e6:0.99"`) or as tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkloadStatement {
    /// Which keys are asked for.
    #[cfg_attr(test, schemars(with = "Option<LawSchema>"))]
    pub keys: Option<Keys>,
    /// Several kinds of request: a file beside this one.
    pub mix: Option<PathBuf>,
    /// The coefficient of variation of the service time, as production shows it.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub service_cv: Option<f64>,
    /// The share of requests that only read.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub read_share: Option<f64>,
    /// What the caches of the service hold when the measurement begins.
    pub cache: Option<Cache>,
    /// Tokens of a prompt, what it shares with others included.
    #[cfg_attr(test, schemars(with = "Option<LawSchema>"))]
    pub input_tokens: Option<Values>,
    /// Tokens of an answer.
    #[cfg_attr(test, schemars(with = "Option<LawSchema>"))]
    pub output_tokens: Option<Values>,
    /// The share of prompt tokens that earlier prompts began with as well.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub prefix_reuse: Option<f64>,
}

/// What the caches of the service hold when the measurement begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cache {
    /// Nothing.
    Cold,
    /// What the warm-up brought.
    Warm,
    /// Nothing that helps: every run asks for other things.
    Busted,
}

/// A law as text, or as a table.
#[cfg(test)]
pub(super) struct LawSchema;

#[cfg(test)]
impl schemars::JsonSchema for LawSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Law".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "object"] })
    }
}
