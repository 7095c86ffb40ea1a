//! Text for Prometheus.

use crate::Report;
use openloop_experiment::drive::Monitor;
use openloop_measurer::{Quantile, Value};
use std::fmt::Write;
use std::io;

/// Writes the state of a run in the text format of Prometheus, for a scrape: cheap enough for every second.
///
/// | metric | type | what |
/// | --- | --- | --- |
/// | `openloop_arrivals_total{outcome}` | counter | arrivals that ended so |
/// | `openloop_scheduled_total` | counter | arrivals that were due |
/// | `openloop_in_flight`, `openloop_waiting` | gauge | dispatched, released and not yet ended |
/// | `openloop_asked_rate` | gauge | arrivals, or sessions, per second asked for now |
/// | `openloop_elapsed_seconds`, `openloop_planned_seconds` | gauge | since the start, and in all |
/// | `openloop_phase{phase}` | gauge | 1 for the present one |
/// | `openloop_response_seconds{quantile}` | gauge | response of the last whole second; quantile 1 is the largest |
/// | `openloop_response_is_lower_bound{quantile}` | gauge | 1 where it is at least that |
///
/// Before the run has begun, nothing but the planned time is there.
///
/// # Errors
/// When the writer fails.
pub fn write_prometheus(monitor: &Monitor, mut to: impl io::Write) -> io::Result<()> {
    let plan = monitor.plan();
    let mut text = Text::default();
    let planned = plan.layout().end().as_duration().as_secs_f64();
    text.metric("planned_seconds", "gauge", "Length of all phases.");
    text.value("planned_seconds", "", planned);
    if let Some(live) = monitor.live() {
        text.outcomes(&live.counts.into());
        text.metric(
            "in_flight",
            "gauge",
            "Arrivals dispatched and not yet ended.",
        );
        text.value("in_flight", "", live.counts.in_flight as f64);
        text.metric(
            "waiting",
            "gauge",
            "Arrivals released and not yet dispatched.",
        );
        text.value("waiting", "", live.counts.waiting as f64);
        text.metric(
            "elapsed_seconds",
            "gauge",
            "Time since the start of the run.",
        );
        text.value("elapsed_seconds", "", live.now.as_duration().as_secs_f64());
        let profile = plan.schedule().and_then(|schedule| schedule.profile());
        if let Some(profile) = profile {
            text.metric(
                "asked_rate",
                "gauge",
                "Arrivals, or sessions, per second asked for now.",
            );
            text.value("asked_rate", "", profile.rate_at(live.now).as_per_second());
        }
        let now = plan.layout().phase_at(live.now);
        text.metric("phase", "gauge", "1 for the present phase.");
        for span in plan.layout().spans() {
            let is_now = f64::from(u8::from(now == Some(span.phase)));
            text.value(
                "phase",
                &format!("{{phase=\"{}\"}}", span.phase.name()),
                is_now,
            );
        }
        if let Some(latest) = &live.latest {
            text.quantiles(&[("0.5", latest.p50), ("0.99", latest.p99), ("1", latest.max)]);
        }
    }
    to.write_all(text.0.as_bytes())?;
    to.flush()
}

impl Report {
    /// Writes the result in the text format of Prometheus, as for a file that the node exporter reads, or a push: counts
    /// of the whole run, rates and latencies of the steady phase, and whether the run may be believed.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_prometheus(&self, mut to: impl io::Write) -> io::Result<()> {
        let mut text = Text::default();
        text.outcomes(&self.arrivals);
        text.metric("valid", "gauge", "1 if the run may be believed.");
        text.value("valid", "", f64::from(u8::from(self.validity.valid)));
        for (name, rate) in [
            ("offered_rate", self.offered_rate),
            ("achieved_rate", self.achieved_rate),
        ] {
            if let Some(rate) = rate {
                text.metric(name, "gauge", "Arrivals per second of the steady phase.");
                text.value(name, "", rate);
            }
        }
        text.metric("latency_seconds", "gauge", "Latencies of the steady phase.");
        let named = self
            .metrics
            .iter()
            .map(|(name, summary)| (name.as_str(), summary.as_ref()));
        for (name, summary) in self.latency.by_name().into_iter().chain(named) {
            let Some(summary) = summary else { continue };
            let quantiles = crate::schema::Summary::QUANTILES;
            let largest = Quantile::new(1, 1).ok().map(|q| ("max_ns", q));
            for (field, q) in quantiles.into_iter().chain(largest) {
                let bound = match summary.at_least.contains(field) {
                    true => ",bound=\"at_least\"",
                    false => "",
                };
                let labels = format!(
                    "{{latency=\"{}\",quantile=\"{}\"{bound}}}",
                    escaped(name),
                    q.as_f64()
                );
                text.value(
                    "latency_seconds",
                    &labels,
                    summary.get(field).unwrap_or_default() as f64 / 1e9,
                );
            }
        }
        to.write_all(text.0.as_bytes())?;
        to.flush()
    }
}

#[derive(Debug, Default)]
struct Text(String);

impl Text {
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        // Writing into a String cannot fail.
        let _ = writeln!(
            self.0,
            "# HELP openloop_{name} {help}\n# TYPE openloop_{name} {kind}"
        );
    }

    fn value(&mut self, name: &str, labels: &str, value: f64) {
        let _ = writeln!(self.0, "openloop_{name}{labels} {value}");
    }

    fn outcomes(&mut self, arrivals: &crate::schema::Arrivals) {
        self.metric("scheduled_total", "counter", "Arrivals that were due.");
        self.value("scheduled_total", "", arrivals.scheduled as f64);
        self.metric("arrivals_total", "counter", "Arrivals by how they ended.");
        let ended = arrivals.by_outcome();
        for (name, n) in ended
            .into_iter()
            .filter(|(name, _)| !matches!(*name, "waiting" | "in_flight"))
        {
            self.value(
                "arrivals_total",
                &format!("{{outcome=\"{name}\"}}"),
                n as f64,
            );
        }
    }

    fn quantiles(&mut self, quantiles: &[(&str, Option<Value>)]) {
        let there = || {
            quantiles
                .iter()
                .filter_map(|(q, value)| Some((format!("{{quantile=\"{q}\"}}"), (*value)?)))
        };
        self.metric(
            "response_seconds",
            "gauge",
            "Response of the arrivals intended in the last whole second.",
        );
        for (labels, value) in there() {
            self.value("response_seconds", &labels, value.ns() as f64 / 1e9);
        }
        self.metric(
            "response_is_lower_bound",
            "gauge",
            "1 where the response is at least that.",
        );
        for (labels, value) in there() {
            let is_bound = f64::from(u8::from(value.is_lower_bound()));
            self.value("response_is_lower_bound", &labels, is_bound);
        }
    }
}

/// As the value of a label.
fn escaped(name: &str) -> String {
    name.replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}
