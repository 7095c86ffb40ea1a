//! The second and the fifth dimension: the floor and the objective; how it is measured, and how often.

use super::Written;
use crate::Lifecycle;
use crate::resilience::Degradation;
use openloop_measurer::Quantile;
use openloop_sched::Rate;
use openloop_workload::Values;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[cfg(test)]
use super::workload::LawSchema;

/// How long an idle service takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FloorStatement {
    /// How many trials of one request at a time measure it; 0 measures none.
    #[cfg_attr(test, schemars(range(max = 100), extend("not" = { "enum": [1, 2] })))]
    pub trials: Option<usize>,
    /// How many requests each trial has, 10 or more.
    #[cfg_attr(test, schemars(range(min = 10)))]
    pub requests: Option<u32>,
    /// What S is expected to be; the measured one is held against it.
    pub expected: Option<Written<Duration>>,
    /// The round trip to the service, where it is known; it is taken off both sides.
    pub round_trip: Option<Written<Duration>>,
}

/// How long each phase lasts; what is left out is that of [`Lifecycle::default`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LifecycleStatement {
    /// The rate grows from 0.
    pub ramp_up: Option<Written<Duration>>,
    /// The rate is reached, and nothing is measured.
    pub warm_up: Option<Written<Duration>>,
    /// The measurement.
    pub steady: Option<Written<Duration>>,
    /// The rate falls to 0.
    pub cooldown: Option<Written<Duration>>,
    /// How long what is in flight is waited for at the end.
    pub drain: Option<Written<Duration>>,
}

impl LifecycleStatement {
    /// The phases, with those of `otherwise` where nothing is said.
    #[must_use]
    pub fn or(&self, otherwise: Lifecycle) -> Lifecycle {
        let or = |said: &Option<Written<Duration>>, otherwise| {
            said.as_ref().map_or(otherwise, |said| **said)
        };
        Lifecycle {
            ramp_up: or(&self.ramp_up, otherwise.ramp_up),
            warm_up: or(&self.warm_up, otherwise.warm_up),
            steady: or(&self.steady, otherwise.steady),
            cooldown: or(&self.cooldown, otherwise.cooldown),
        }
    }

    pub(super) fn is_said(&self) -> bool {
        [&self.ramp_up, &self.warm_up, &self.steady, &self.cooldown]
            .iter()
            .any(|said| said.is_some())
    }
}

/// At which rates the service is measured, each in a lifecycle of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SweepStatement {
    /// These rates, from the lowest to the highest.
    pub rates: Vec<Written<Rate>>,
    /// Instead: looks for the highest rate that keeps the objective or, without one, for the knee; from `load.rate` on.
    pub find: bool,
    /// How close `find` comes to it, as a share: 0.03.
    #[cfg_attr(test, schemars(range(min = 0.001, max = 0.5)))]
    pub resolution: Option<f64>,
    /// How long `find` may measure one rate in all; without it 20 times `lifecycle.steady`.
    pub longest: Option<Written<Duration>>,
    /// The highest rate that `find` tries.
    pub up_to: Option<Written<Rate>>,
}

/// How often the experiment is repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReplicasStatement {
    /// How many whole lifecycles there are: an odd number from 3 on.
    #[cfg_attr(test, schemars(extend("not" = { "multipleOf": 2 })))]
    pub runs: Option<usize>,
    /// How often a set of runs that disagree is measured again.
    pub retests: Option<usize>,
}

/// Load past what the service can serve, and back: at `load.rate` for three parts, at `above` for three, and at
/// `load.rate` again for four.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ResilienceStatement {
    /// The rate past the limit: 1.5 times what the service can serve.
    pub above: Option<Written<Rate>>,
    /// How long each of the ten parts is; without it, a tenth of `lifecycle.steady`.
    pub part: Option<Written<Duration>>,
    /// The share of what was served before that is still to be served under overload: 1.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub serves_still: Option<f64>,
    /// The share of arrivals that may fail rather than be turned away: 0.01.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub fails_at_most: Option<f64>,
    /// What those who are served may wait at p99.
    pub accepted_p99: Option<Written<Duration>>,
    /// How soon after the overload all is to be as before.
    pub recovers_within: Option<Written<Duration>>,
}

impl ResilienceStatement {
    /// How the service is to degrade.
    #[must_use]
    pub fn degradation(&self) -> Degradation {
        let mut stated = Degradation::default();
        if let Some(share) = self.serves_still {
            stated = stated.serves_still(share);
        }
        if let Some(share) = self.fails_at_most {
            stated = stated.fails_at_most(share);
        }
        if let Some(limit) = &self.accepted_p99 {
            stated = stated.accepted(Quantile::P99, **limit);
        }
        if let Some(time) = &self.recovers_within {
            stated = stated.recovers_within(**time);
        }
        stated
    }
}

/// The service of a rehearsal, which exists only as arithmetic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RehearsalStatement {
    /// How many servers stand behind its one queue.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub servers: Option<u32>,
    /// The law of its service times, in seconds.
    #[cfg_attr(test, schemars(with = "Option<LawSchema>"))]
    pub service: Option<Values>,
    /// How many requests may wait; the others are turned away.
    pub waiting: Option<usize>,
}
