//! The latencies of every report.

use super::Summary;
use openloop_experiment::{Metric, Series};
use serde::{Deserialize, Serialize};

/// The latencies of every report, over the steady phase. `null` where nothing was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Latency {
    /// What users waited, from the intended instant: every arrival; those without an end are lower bounds.
    pub response: Option<Summary>,
    /// Of the arrivals that were served.
    pub response_ok: Option<Summary>,
    /// As an objective sees it: everything that was not served is a lower bound.
    pub response_slo: Option<Summary>,
    /// Inside the user's future.
    pub service: Option<Summary>,
    /// Service without the wait on our side of the wire: what a naive tool calls latency.
    pub exchange: Option<Summary>,
    /// From the intended instant to the dispatch.
    pub schedule_delay: Option<Summary>,
    /// From the intended instant to the release: the generator's own lateness.
    pub lag: Option<Summary>,
    /// From the kernel's receive stamp to the end; `null` where the adapter has no stamps.
    pub pickup: Option<Summary>,
}

impl Latency {
    /// Of a run. The windows are kept of what is judged and compared, for the sake of the size.
    pub(crate) fn of(series: impl Fn(Metric) -> Series) -> Self {
        Latency::all(|metric| match metric {
            Metric::Response | Metric::ResponseSlo => Summary::of(&series(metric)),
            _ => Summary::without_windows(&series(metric)),
        })
    }

    /// Of one of many kinds, likewise.
    pub(crate) fn of_kind(series: impl Fn(Metric) -> Series) -> Self {
        Latency::all(|metric| match metric {
            Metric::ResponseSlo => Summary::of(&series(metric)),
            _ => Summary::without_windows(&series(metric)),
        })
    }

    /// Each latency by its name, in the order of the fields.
    #[must_use]
    pub fn by_name(&self) -> [(&'static str, Option<&Summary>); 8] {
        [
            ("response", self.response.as_ref()),
            ("response_ok", self.response_ok.as_ref()),
            ("response_slo", self.response_slo.as_ref()),
            ("service", self.service.as_ref()),
            ("exchange", self.exchange.as_ref()),
            ("schedule_delay", self.schedule_delay.as_ref()),
            ("lag", self.lag.as_ref()),
            ("pickup", self.pickup.as_ref()),
        ]
    }

    fn all(summary: impl Fn(Metric) -> Option<Summary>) -> Self {
        Latency {
            response: summary(Metric::Response),
            response_ok: summary(Metric::ResponseOk),
            response_slo: summary(Metric::ResponseSlo),
            service: summary(Metric::Service),
            exchange: summary(Metric::Exchange),
            schedule_delay: summary(Metric::ScheduleDelay),
            lag: summary(Metric::Lag),
            pickup: summary(Metric::Pickup),
        }
    }
}
