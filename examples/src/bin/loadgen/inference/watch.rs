//! What the server says of itself while the run goes on.

use super::InferenceArgs;
use crate::output;
use crate::protocol::Observed as Said;
use bytes::Bytes;
use openloop_experiment::drive::Monitor;
use openloop_http::{BodyReader, Connections, Http, Piece, Tls};
use openloop_inference::Observed;
use openloop_report::Report;
use openloop_sched::Offset;
use std::sync::Mutex;
use std::time::Duration;

/// How often it is asked, and how long it may take to answer.
const EVERY: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(5);
/// How soon it is asked again at the soonest.
const LOOK: Duration = Duration::from_millis(20);
/// A cache that is so full has no room for the next.
const FULL: f64 = 0.99;

/// One of the things that a server tells.
type Field = fn(&Observed) -> Option<f64>;

/// What was seen in the last run.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Vec<(Offset, Observed)>>);

/// Keeps a body.
#[derive(Default)]
pub(super) struct Body(Vec<u8>);

impl Body {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl BodyReader for Body {
    fn data(&mut self, data: &Bytes, _: Piece<'_>) {
        self.0.extend_from_slice(data);
    }
}

impl Watch {
    /// Asks each second until the run ends, and sums up its steady phase.
    pub(crate) async fn scrape(
        &self,
        arguments: &InferenceArgs,
        tls: Option<Tls>,
        run: &Monitor,
    ) -> Vec<Said> {
        self.seen().clear();
        let own = arguments.metrics_url.is_none();
        let url = arguments.metrics_url.clone().unwrap_or_else(|| {
            let base = arguments.url.trim_end_matches('/');
            format!("{}/metrics", base.strip_suffix("/v1").unwrap_or(base))
        });
        if url == "none" {
            return Vec::new();
        }
        let mut http = Http::builder(&url).connections(Connections::pool(1));
        if own {
            // llama-server tells nobody else; another server is not to see the key.
            http = arguments.as_who_asks(http);
        }
        if let Some(tls) = tls.filter(|_| url.starts_with("https")) {
            http = http.tls(tls);
        }
        let http = match http.build() {
            Ok(http) => http,
            Err(error) => {
                output::complain(format_args!("{url} is not asked: {error}"));
                return Vec::new();
            }
        };
        let end = run.plan().layout().steady().to;
        loop {
            let now = run.live().map(|live| live.now);
            if let Some(now) = now {
                let mut body = Body::default();
                let asked = http.stream(http.request(), &mut body);
                if let Ok(Ok(reply)) = tokio::time::timeout(LIMIT, asked).await
                    && reply.status().is_success()
                {
                    let seen = Observed::parse(&String::from_utf8_lossy(&body.0));
                    if seen.engine.is_some() {
                        self.seen().push((now, seen));
                    }
                }
                if now >= end {
                    return self.sum_up(run);
                }
            }
            // The first look is at the beginning, and the last at the end.
            let left = now.map_or(LOOK, |now| end.saturating_since(now).min(EVERY));
            tokio::time::sleep(left.max(LOOK)).await;
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Vec<(Offset, Observed)>> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Over the steady phase.
    fn sum_up(&self, run: &Monitor) -> Vec<Said> {
        let steady = run.plan().layout().steady();
        let seen = self.seen();
        let inside: Vec<_> = seen
            .iter()
            .filter(|(at, _)| *at >= steady.from)
            .map(|(_, seen)| seen)
            .collect();
        let (Some(first), Some(last)) = (inside.first(), inside.last()) else {
            return Vec::new();
        };
        let of = |what: Field| inside.iter().filter_map(move |seen| what(seen));
        let most = |what| of(what).reduce(f64::max);
        let mean = |what: Field| {
            let count = of(what).count();
            (count > 0).then(|| of(what).sum::<f64>() / count as f64)
        };
        [
            ("kv_cache_usage_most", most(|seen| seen.kv_cache_usage)),
            ("kv_cache_usage_mean", mean(|seen| seen.kv_cache_usage)),
            ("running_mean", mean(|seen| seen.running)),
            ("waiting_most", most(|seen| seen.waiting)),
            ("preemptions", last.preemptions_since(first)),
            ("prefix_hit_rate", last.prefix_hit_rate_since(first)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }

    /// The course of it, and what happened.
    pub(crate) fn tell(&self, mut report: Report) -> Report {
        let seen = self.seen();
        let fields: [(&str, Field); 4] = [
            ("kv_cache_usage", |seen| seen.kv_cache_usage),
            ("running", |seen| seen.running),
            ("waiting", |seen| seen.waiting),
            ("preemptions", |seen| seen.preemptions),
        ];
        for (name, field) in fields {
            let course = seen
                .iter()
                .filter_map(|(at, seen)| Some((at.as_nanos(), field(seen)?)));
            report = report.with_course(name, course);
        }
        let mut was_full = false;
        let mut before: Option<&Observed> = None;
        for (at, now) in seen.iter() {
            let is_full = now.kv_cache_usage.is_some_and(|usage| usage >= FULL);
            if is_full && !was_full {
                report = report.with_event(at.as_nanos(), "kv_cache_exhausted");
            }
            was_full = is_full;
            let preempted = before.and_then(|before| now.preemptions_since(before));
            if preempted.is_some_and(|preempted| preempted > 0.0) {
                report = report.with_event(at.as_nanos(), "preemption");
            }
            before = Some(now);
        }
        report
    }
}
