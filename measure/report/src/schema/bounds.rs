//! Which figures are only lower bounds.

use openloop_measurer::Value;
use serde::{Deserialize, Serialize};

/// The names of the fields beside it that are lower bounds: the truth is at least what they say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct LowerBounds(Vec<String>);

impl LowerBounds {
    /// Whether the field `name` is one, `p99_ns` say.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|field| field == name)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The number of `value`, which goes into the field `name`.
    pub(crate) fn note(&mut self, name: &str, value: Value) -> u64 {
        if value.is_lower_bound() {
            self.add(name);
        }
        value.ns()
    }

    pub(crate) fn add(&mut self, name: &str) {
        self.0.push(name.to_owned());
    }
}
