//! Measures a floor.

use super::{Floor, LIGHT, Level, Rtt, RttSource};
use crate::drive::DriveError;
use crate::plan::PlanBuilder;
use crate::series::Metric;
use crate::units::{Ns, Percent};
use crate::{Lifecycle, Plan, ProtocolError, Run};
use openloop_measurer::{ClassStats, Histogram, Outcome, Section};
use openloop_workload::{named, numbered};
use std::time::Duration;

/// Time to think, in mean services of the pilot: the service is then used 4 % of the time.
const THINK: u32 = 24;
/// Requests of each trial that are left out, while the service wakes up.
const WARM_UP: u32 = 5;
/// The fewest requests of a trial, however long they take.
const FEWEST: u32 = 10;
/// The checks that say nothing of a floor, which counts from the release of each request.
const NOT_OF_FLOOR: [&str; 1] = ["outbound_error"];

/// How a floor is measured: several trials of one user who sends a request, waits for its answer and then thinks, so
/// that the service is used less than 5 % of the time.
///
/// First comes one request, cold, whose response is shown apart; then a pilot that learns how long a request takes,
/// from which the think time follows; then the trials, in each of which the first few requests are left out. Figures
/// are of the requests that were served. Responses count from the release of each request: what the generator's timer
/// adds is not the service's floor.
///
/// The time it takes: a request and its think time are 25 S, so 5 trials of 200 requests take 25 s for an S of 1 ms,
/// and 5 trials of a minute or so for an S from 12 ms to 160 ms. A trial has 10 requests at least, and 5 before them: for
/// an S of 2 s it takes 12 minutes. [`within`](FloorTrials::within) makes that shorter, at the price of shorter pauses.
#[derive(Clone, Debug)]
#[must_use = "the floor is measured by measure()"]
pub struct FloorTrials {
    trials: usize,
    requests: u32,
    longest: Duration,
    within: Option<Duration>,
    rtt: Option<Rtt>,
}

/// 5 trials of 200 requests, none longer than a minute.
impl Default for FloorTrials {
    fn default() -> Self {
        FloorTrials {
            trials: 5,
            requests: 200,
            longest: Duration::from_secs(60),
            within: None,
            rtt: None,
        }
    }
}

impl FloorTrials {
    /// How many trials there are: at least 3, for the spread between them.
    pub fn trials(mut self, trials: usize) -> Self {
        self.trials = trials;
        self
    }

    /// How many requests each trial measures, if they fit into its [longest time](FloorTrials::longest).
    pub fn requests(mut self, requests: u32) -> Self {
        self.requests = requests;
        self
    }

    /// How long a trial may take. 10 requests it has in any case.
    pub fn longest(mut self, longest: Duration) -> Self {
        self.longest = longest;
        self
    }

    /// How long all trials together may take, for services that are slow by themselves. Where they do not fit, there are
    /// first fewer requests and then shorter pauses between them, and a warning that the service rested less; still it is
    /// one request at a time. 10 requests each trial has in any case, and one before them.
    pub fn within(mut self, all: Duration) -> Self {
        self.within = Some(all);
        self
    }

    /// How many runs there are in all: the first request, the pilot, and the trials.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.trials + 2
    }

    /// The round trip; without it 0, with a warning unless the plan says that the service is on this host.
    pub fn rtt(mut self, rtt: Rtt) -> Self {
        self.rtt = Some(rtt);
        self
    }

    /// Measures the floor of the service that `trial` runs plans against. Of `base` it takes limits, kinds, target and
    /// seed; the load is its own.
    ///
    /// # Errors
    /// When a trial cannot be run, nothing is served, or there are fewer than 3 trials or 10 requests.
    pub async fn measure(
        self,
        base: PlanBuilder,
        mut trial: impl AsyncFnMut(&Plan) -> Result<Run, DriveError>,
    ) -> Result<Floor, ProtocolError> {
        if self.trials < 3 || self.requests < FEWEST {
            return Err(ProtocolError::Options(format!(
                "{} trials of {} requests are too few for a floor: take at least 3 of {FEWEST}",
                self.trials, self.requests
            )));
        }
        let seed = named(base.seeded(), "floor");
        let mut runs = 0;
        let mut run = async |think, lifecycle| {
            let plan = base
                .clone()
                .alone(think, lifecycle)
                .seed(numbered(seed, runs))
                .build();
            let step = "floor";
            let plan = plan.map_err(|source| ProtocolError::Plan { step, source })?;
            runs += 1;
            let number = runs as usize;
            trial(&plan).await.map_err(|source| ProtocolError::Drive {
                step,
                run: number,
                source,
            })
        };
        // One user who retires before the next sends one request.
        let once = Lifecycle::steady_only(Duration::from_nanos(1));
        let first = run(Duration::from_secs(1), once).await?;
        let cold = mean_response(&first).ok_or_else(|| nothing(&first))?;
        let pilot = (cold * 20).clamp(Duration::from_millis(50), Duration::from_secs(10));
        let pause = (cold / 10).max(Duration::from_micros(10));
        let pilot = run(pause, Lifecycle::steady_only(pilot)).await?;
        let service = mean_response(&pilot).ok_or_else(|| nothing(&pilot))?;
        let shape = self.shape(service);
        let mut trials = Vec::with_capacity(self.trials);
        for _ in 0..self.trials {
            trials.push(run(shape.think, shape.lifecycle).await?);
        }
        let rtt = self.rtt.unwrap_or_else(|| Rtt::assumed(base.is_for()));
        of_trials(&trials, cold, rtt, shape.is_short)
    }

    /// What a trial of a service is that takes so long.
    fn shape(&self, service: Duration) -> Shape {
        // A service of no time at all still needs a think time that a timer can keep.
        let mut think = (service * THINK).max(Duration::from_millis(1));
        let mut warm_up = WARM_UP;
        let mut longest = self.longest;
        let mut is_short = false;
        if let Some(all) = self.within {
            let one = all / u32::try_from(self.trials).unwrap_or(u32::MAX);
            let all_requests = WARM_UP + FEWEST;
            if (service + think) * all_requests > one {
                is_short = true;
                think = (one / all_requests).saturating_sub(service);
            }
            if service * all_requests > one {
                warm_up = 1;
            }
            longest = longest.min(one.saturating_sub((service + think) * warm_up));
        }
        let cycle = service + think;
        let steady = (cycle * self.requests).min(longest.max(cycle * FEWEST));
        Shape {
            think,
            lifecycle: Lifecycle {
                warm_up: cycle * warm_up,
                ..Lifecycle::steady_only(steady)
            },
            is_short,
        }
    }
}

/// What a trial is.
struct Shape {
    think: Duration,
    lifecycle: Lifecycle,
    /// Whether there was no time for longer pauses.
    is_short: bool,
}

fn of_trials(
    trials: &[Run],
    cold: Duration,
    rtt: Rtt,
    is_short: bool,
) -> Result<Floor, ProtocolError> {
    let mut floor = Floor {
        trials: trials.len(),
        cold: Some(cold),
        ..Floor::stated(rtt)
    };
    let Some(first) = trials.first() else {
        return Ok(floor);
    };
    let kinds = first.plan().kinds();
    let of_kinds = kinds.iter().map(|(kind, name)| (Some(kind), Some(name)));
    for (kind, name) in std::iter::once((None, None)).chain(of_kinds) {
        // Of all together, or of one kind.
        let sections: Vec<Section> = trials
            .iter()
            .map(|run| match kind {
                None => run.snapshot().steady(),
                Some(_) => run.snapshot().of_kind(kind).steady(),
            })
            .collect();
        for metric in metrics(&sections) {
            let histograms = sections.iter().map(|section| served(section, &metric));
            if let Some(level) = Level::of(histograms.collect()) {
                floor = floor.with(name, metric, level);
            }
        }
    }
    if floor.level(None, &Metric::Response).is_none() {
        return Err(nothing(first));
    }
    let used = trials.iter().map(|run| run.snapshot().mean_in_flight().0);
    let used = used.sum::<f64>() / trials.len() as f64;
    floor.utilisation = Some(used);
    floor.faults = faults(trials);
    floor.warnings = warnings(&floor, trials, used, is_short);
    if trip_is_too_long(&floor) {
        floor.rtt = Rtt::assumed(crate::Target::Unknown);
    }
    Ok(floor)
}

/// The metrics that have a floor: response, service, exchange, and all stages.
fn metrics(sections: &[Section]) -> Vec<Metric> {
    let mut metrics = vec![Metric::Response, Metric::Service, Metric::Exchange];
    for (name, _) in sections.iter().flat_map(Section::metrics) {
        let metric = Metric::Named(name.to_owned());
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics
}

/// Of the requests that were served.
fn served(section: &Section, metric: &Metric) -> Histogram {
    let of: fn(&ClassStats) -> &Histogram = match metric {
        Metric::Named(name) => {
            let found = section.metric(name);
            return found.map_or_else(Histogram::new, |histogram| histogram.into_owned());
        }
        Metric::Service => |class| &class.service,
        Metric::Exchange => |class| &class.exchange,
        _ => |class| &class.since_fired,
    };
    section
        .population(|outcome| outcome != Outcome::Ok, of)
        .exact
}

fn mean_response(run: &Run) -> Option<Duration> {
    let mean = served(&run.snapshot().steady(), &Metric::Response).mean_ns()?;
    Some(Duration::from_nanos(mean.round() as u64))
}

fn nothing(run: &Run) -> ProtocolError {
    let outcomes: Vec<String> = run
        .snapshot()
        .outcomes()
        .map(|(outcome, n)| match outcome.class() {
            Some(class) => format!("{n} {} ({class})", outcome.name()),
            None => format!("{n} {}", outcome.name()),
        })
        .collect();
    let why = match outcomes.is_empty() {
        true => "no request came to an end".to_owned(),
        false => format!(
            "no request was served, of one at a time: {}",
            outcomes.join(", ")
        ),
    };
    ProtocolError::NothingServed { step: "floor", why }
}

fn faults(trials: &[Run]) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, run) in trials.iter().enumerate() {
        let of_floor = run
            .validity()
            .faults()
            .filter(|check| !NOT_OF_FLOOR.contains(&check.name));
        let text =
            of_floor.map(|check| format!("trial {}: {}: {}", index + 1, check.name, check.why));
        faults.extend(text);
    }
    faults
}

fn warnings(floor: &Floor, trials: &[Run], used: f64, is_short: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if used > LIGHT && is_short {
        warnings.push(format!(
            "one request at a time used the service {} of the time, more than {}: there was no time for longer pauses",
            Percent(used),
            Percent(LIGHT)
        ));
    } else if used > LIGHT {
        warnings.push(format!(
            "the service was used {} of the time, more than {}: it was slower than in the pilot, so its floor is not steady",
            Percent(used),
            Percent(LIGHT)
        ));
    }
    let counts = trials.iter().map(|run| run.snapshot().steady_counts());
    let (scheduled, ok) = counts.fold((0, 0), |(all, ok), counts| {
        (all + counts.scheduled, ok + counts.ok)
    });
    if ok < scheduled {
        warnings.push(format!(
            "{} of {scheduled} requests were not served, though they came one at a time: the floor is of the others",
            scheduled - ok
        ));
    }
    if ok < 500 {
        warnings.push(format!(
            "its p99 rests on {ok} requests, of which {} took longer: it moves from trial to trial",
            ok / 100
        ));
    }
    if floor.rtt.source() == RttSource::Unknown {
        warnings.push(
            "the round trip was not estimated: give it, or a floor over a network is no S of the service".to_owned(),
        );
    }
    if trip_is_too_long(floor) {
        warnings.push(format!(
            "the round trip of a no-op, {}, is longer than the shortest response: it is not that of these requests, and is not used",
            Ns(floor.rtt.estimate().as_nanos() as f64)
        ));
    }
    warnings
}

fn trip_is_too_long(floor: &Floor) -> bool {
    let least = floor
        .level(None, &Metric::Response)
        .map(|level| level.min_ns);
    let trip = floor.rtt.estimate().as_nanos() as f64;
    trip > 0.0 && least.is_some_and(|least| trip >= least)
}
