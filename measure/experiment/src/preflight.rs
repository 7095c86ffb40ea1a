//! What can be known of a run before it costs its time.

mod resolution;

pub use resolution::{Resolution, ResolutionBasis};

use crate::floor::{Floor, Ratio};
use crate::plan::Load;
use crate::series::Metric;
use crate::slo::{Bound, Objective, Slo, Statistic};
use crate::units::{Ns, Percent, Short};
use crate::{Plan, SloError};
use openloop_capacity::{MD1, Queue};
use openloop_measurer::{Phase, Quantile};
use openloop_sched::Schedule;
use std::fmt;
use std::time::Duration;

/// From empty, a queue is within 1 % of its steady state after so many relaxation times: e⁻⁵ = 0.7 %.
const RELAXATIONS: f64 = 5.0;

/// What can be known of a run before it costs its time: how well it will resolve a quantile, how long it has to warm up,
/// and which periodic events it is too short to hold.
///
/// Everything here is an estimate, and says on what it rests: a run's own interval is the judge.
///
/// ```
/// use openloop_experiment::{Floor, Level, Lifecycle, Metric, Plan, Preflight, Rtt};
/// use openloop_measurer::Quantile;
/// use openloop_sched::Rate;
/// use std::time::Duration;
///
/// let plan = Plan::open(Rate::per_second(750.0)?)
///     .lifecycle(Lifecycle { steady: Duration::from_secs(60), ..Lifecycle::default() })
///     .build()?;
/// let level = Level::stated(Duration::from_millis(1));
/// let floor = Floor::stated(Rtt::same_host()).with(None, Metric::Response, level);
/// let preflight = Preflight::new(&plan)
///     .floor(&floor)
///     .periodic("checkpoint", Duration::from_secs(300));
///
/// let p99 = preflight.resolution(Quantile::P99).unwrap();
/// assert!((p99.relative - 0.139).abs() < 0.001); // 1.96 · 15 / √45 000
/// for hint in preflight.hints() {
///     println!("{hint}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "it tells by hints()"]
pub struct Preflight<'a> {
    plan: &'a Plan,
    floor: Option<&'a Floor>,
    utilisation: Option<f64>,
    events: Vec<(String, Duration)>,
}

/// A run that would have to be so many times as long is none that anybody makes.
const MOST: u32 = 1000;

/// Something to know before a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hint {
    /// What it is about: `resolution`, `warm_up`, `event_of_period`, `saturated`, `objective`.
    pub name: &'static str,
    /// Whether something should be changed first.
    pub is_warning: bool,
    /// What, with its figures.
    pub text: String,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.is_warning {
            true => "warning: ",
            false => "",
        };
        write!(f, "{sign}{}", self.text)
    }
}

impl<'a> Preflight<'a> {
    /// Of this plan.
    pub fn new(plan: &'a Plan) -> Self {
        Preflight {
            plan,
            floor: None,
            utilisation: None,
            events: Vec::new(),
        }
    }

    /// The floor of the service: from its S, and unless another [utilisation](Preflight::utilisation) is given, one
    /// server is assumed.
    pub fn floor(mut self, floor: &'a Floor) -> Self {
        self.floor = Some(floor);
        self
    }

    /// How much of the service the plan is expected to use, from 0 to 1.
    pub fn utilisation(mut self, utilisation: f64) -> Self {
        self.utilisation = Some(utilisation);
        self
    }

    /// Something that happens to the service every so often whatever its load: garbage collection, a checkpoint, a
    /// flush of the write-ahead log.
    pub fn periodic(mut self, name: impl Into<String>, every: Duration) -> Self {
        self.events.push((name.into(), every));
        self
    }

    fn s_seconds(&self) -> Option<f64> {
        let s = self.floor?.s_ns(None, &Metric::Response)?;
        (s > 0.0).then_some(s / 1e9)
    }

    /// Arrivals per second in the steady phase, as asked or else as planned.
    fn rate(&self) -> Option<f64> {
        if let Load::Open {
            asked: Some(rate), ..
        } = self.plan.load()
        {
            return Some(rate.as_per_second());
        }
        let steady = self.plan.layout().steady().length().as_secs_f64();
        Some(self.arrivals()? as f64 / steady)
    }

    fn arrivals(&self) -> Option<u64> {
        // Of sessions these are the first requests alone.
        if self.plan.sessions().is_some() {
            return None;
        }
        // What the rate says: to count thousands of millions takes longer than any estimate is worth.
        if let Some(profile) = self.plan.schedule().and_then(Schedule::profile) {
            let steady = self.plan.layout().steady();
            let expected = profile.integral(steady.to).as_arrivals()
                - profile.integral(steady.from).as_arrivals();
            return Some(expected.round() as u64);
        }
        let phases = self.plan.preview()?.phases;
        let steady = phases
            .into_iter()
            .find(|(name, _)| *name == Phase::Steady.name())?;
        Some(steady.1)
    }

    /// The utilisation that estimates rest on: as given, or λ·S of one server.
    fn used(&self) -> Option<f64> {
        match self.utilisation {
            Some(utilisation) => Some(utilisation),
            None => Some(self.rate()? * self.s_seconds()?),
        }
    }

    fn used_in_words(&self) -> String {
        match self.utilisation {
            Some(_) => "as expected".to_owned(),
            None => "λ·S, if it is one server".to_owned(),
        }
    }

    /// How well the run will resolve a quantile up to P99 of the response, by the table of an M/M/1 queue; `None` where
    /// the utilisation is not known, or 1 and more.
    #[must_use]
    pub fn resolution(&self, q: Quantile) -> Option<Resolution> {
        Resolution::by_table(q, self.used()?, self.arrivals()?)
    }

    /// How long the memory of a queue lasts: S/(1 − √ρ)², the relaxation time of M/M/1.
    ///
    /// 0.06 s for S = 1 ms at ρ = 0.75, 56 s for 1 s, 25 min for 4 s at 0.9.
    #[must_use]
    pub fn relaxation(&self) -> Option<Duration> {
        let used = self.used().filter(|used| (0.0..1.0).contains(used))?;
        let seconds = self.s_seconds()? / (1.0 - used.sqrt()).powi(2);
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// What to know before the run.
    #[must_use]
    pub fn hints(&self) -> Vec<Hint> {
        let mut hints = Vec::new();
        hints.extend(self.saturated());
        for q in [Quantile::P50, Quantile::P99] {
            if let Some(resolution) = self.resolution(q) {
                let text = format!("this run can resolve {resolution}");
                hints.push(hint("resolution", false, text));
            }
        }
        hints.extend(self.warm_up());
        hints.extend(self.events.iter().filter_map(|event| self.event(event)));
        hints
    }

    /// What to know of an objective before the run: bounds on what there is not, and bounds that the floor shows to be
    /// impossible or to say little.
    ///
    /// # Errors
    /// When a bound names a kind of request or a stage that there is not.
    pub fn objective(&self, slo: &Slo) -> Result<Vec<Hint>, SloError> {
        slo.check(self.plan)?;
        let Some(floor) = self.floor else {
            return Ok(self.at_best(slo).into_iter().collect());
        };
        let objective: Objective<'_> = slo.on(floor)?;
        let lints = objective.lint();
        let lints = lints
            .iter()
            .map(|lint| hint("objective", true, lint.to_string()));
        let mut hints: Vec<Hint> = lints.collect();
        let quantiles = objective
            .limits()
            .filter_map(|(bound, limit, _)| self.resolves(bound, limit?, floor));
        hints.extend(quantiles);
        Ok(hints)
    }

    /// How near to a bound a run could be and still tell and, by what one server would do at that utilisation, how much
    /// longer it would have to be.
    fn resolves(&self, bound: &Bound, limit: f64, floor: &Floor) -> Option<Hint> {
        let Statistic::Quantile(q) = bound.statistic else {
            return None;
        };
        let resolution = self.resolution(q)?;
        let within = format!(
            "{bound}: this run can resolve ± {} at {q}, so within that of {} it stays undecided",
            Percent(resolution.relative),
            Ns(limit)
        );
        let used = self.used().filter(|used| *used < 1.0)?;
        let Some(expected) = as_one_server(bound, q, floor, used) else {
            return Some(hint("resolution", false, within));
        };
        let steady = self.plan.layout().steady().length();
        let ns = |ns: f64| Duration::from_nanos(ns as u64);
        let as_one = format!(
            "as one server at ρ = {} it would be {}",
            Short(used),
            Ns(expected)
        );
        let (is_short, then) = match resolution.needed(steady, ns(expected), ns(limit)) {
            Some(needed) if needed <= steady => (false, "long enough to tell".to_owned()),
            Some(needed) if needed <= steady * MOST => (
                true,
                format!(
                    "{:.0?} more would be needed to tell",
                    needed.saturating_sub(steady)
                ),
            ),
            _ => (true, "no length tells that from the bound".to_owned()),
        };
        Some(hint(
            "resolution",
            is_short,
            format!("{within}; {as_one}: {then}"),
        ))
    }

    /// Without a floor nobody knows how busy the service will be, and so only what an idle one would allow.
    fn at_best(&self, slo: &Slo) -> Option<Hint> {
        let quantiles = slo
            .bounds()
            .iter()
            .filter_map(|bound| match bound.statistic {
                Statistic::Quantile(q) => {
                    Resolution::by_table(q, self.utilisation.unwrap_or(0.0), self.arrivals()?)
                }
                _ => None,
            });
        let worst = quantiles.max_by(|a, b| a.relative.total_cmp(&b.relative))?;
        let (q, relative) = (worst.quantile, Percent(worst.relative));
        let text = match self.utilisation {
            Some(_) => format!("this run can resolve {worst}"),
            None => format!(
                "this run can resolve ± {relative} at {q} at best, of an idle service, and several times less well near its limit: a floor tells more"
            ),
        };
        Some(hint("resolution", false, text))
    }

    fn saturated(&self) -> Option<Hint> {
        let used = self.used().filter(|used| *used >= 1.0)?;
        let text = format!(
            "the utilisation would be {}, {}: the backlog grows, and no quantile settles",
            Short(used),
            self.used_in_words()
        );
        Some(hint("saturated", true, text))
    }

    fn warm_up(&self) -> Option<Hint> {
        let relaxation = self.relaxation()?;
        let needed = relaxation.mul_f64(RELAXATIONS);
        let steady = self.plan.layout().steady();
        let before = steady.from.as_duration();
        let ns = |duration: Duration| Ns(duration.as_nanos() as f64);
        let text = format!(
            "the memory of the queue lasts {} (S/(1 - √ρ)² at ρ = {}, {}): warm up for {} or more; planned are {}",
            ns(relaxation),
            Short(self.used()?),
            self.used_in_words(),
            ns(needed),
            ns(before)
        );
        Some(hint("warm_up", before < needed, text))
    }

    fn event(&self, (name, every): &(String, Duration)) -> Option<Hint> {
        let steady = self.plan.layout().steady().length();
        let sure = steady.as_nanos() / every.as_nanos().max(1);
        let ns = |duration: Duration| Ns(duration.as_nanos() as f64);
        (sure < 2).then(|| {
            let holds = match sure {
                0 => "may hold none".to_owned(),
                _ => "is sure to hold one alone".to_owned(),
            };
            let text = format!(
                "a steady phase of {} {holds} of the events \"{name}\", which come every {}: make it {} or longer",
                ns(steady),
                ns(*every),
                ns(every.saturating_mul(2))
            );
            hint("event_of_period", true, text)
        })
    }
}

/// What a quantile would be if the service were one server, used so much: of an M/M/1 queue, every quantile of which is
/// 1/(1 − ρ) times that of the idle service, or of an M/D/1 queue where the service takes about as long each time.
fn as_one_server(bound: &Bound, q: Quantile, floor: &Floor, used: f64) -> Option<f64> {
    let (kind, metric) = (bound.kind.as_deref(), &bound.metric);
    let trip = floor.rtt_ns(metric);
    if floor.ratio(kind, metric)? == Ratio::Literal {
        let s = floor.s_ns(kind, metric).filter(|s| *s > 0.0)? / 1e9;
        let queue = MD1::new(used / s, s).ok()?;
        return Some(queue.response_quantile(q.as_f64()).ok()? * 1e9 + trip);
    }
    let idle = floor.quantile_ns(kind, metric, q)?;
    (idle > 0.0).then_some(idle / (1.0 - used) + trip)
}

fn hint(name: &'static str, is_warning: bool, text: String) -> Hint {
    Hint {
        name,
        is_warning,
        text,
    }
}
