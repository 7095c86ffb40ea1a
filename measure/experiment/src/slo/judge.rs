//! How evidence is held against bounds.

use super::bound::Statistic;
use super::good::Good;
use super::judgement::{Finding, Judgement, Ratios};
use super::objective::{Objective, Term};
use super::verdict::Verdict;
use crate::replicas::{Stability, Steadiness, grown};
use crate::series::{ENOUGH_RUNS, Metric, Sections, Series};
use crate::stats::section;
use crate::units::Ns;
use crate::validity::{EXCURSIONS, Validity};
use crate::{Floor, Run};
use openloop_measurer::{Course, Kind, Phase, Population, SLICES, Value, WINDOWS};

pub(super) fn judge(
    objective: &Objective<'_>,
    runs: &[Run],
    stability: Option<&Stability>,
) -> Judgement {
    let findings: Vec<_> = objective
        .terms
        .iter()
        .map(|term| of_term(term, runs, objective.floor))
        .collect();
    let mut verdict = findings
        .iter()
        .map(|finding| finding.verdict)
        .min()
        .unwrap_or(Verdict::Inconclusive);
    let mut why = Vec::new();
    let mut lower = |to: Verdict, because: String| {
        verdict = verdict.min(to);
        why.push(because);
    };
    let interrupted = runs.iter().any(|run| run.interrupted().is_some());
    if interrupted {
        lower(Verdict::Inconclusive, "the run was interrupted".to_owned());
    }
    if let Some(stability) = stability
        && stability.steadiness() == Steadiness::Discard
    {
        lower(
            Verdict::Inconclusive,
            format!("the runs disagree: {stability}"),
        );
    }
    if let Some(growth) = growth(runs) {
        lower(Verdict::Fail, growth);
    }
    let rests_on_floor = |term: &Term<'_>| term.basis.is_some() || term.broken_by_floor().is_some();
    if let Some(floor) = objective.floor
        && objective.terms.iter().any(rests_on_floor)
    {
        for fault in floor.faults() {
            lower(
                Verdict::Invalid,
                format!("the floor may not be believed: {fault}"),
            );
        }
    }
    let tightest = objective.tightest();
    let of_run = |run: &Run| match tightest {
        Some(bound) => Validity::for_bound(run, bound),
        None => run.validity().clone(),
    };
    let validities: Vec<Validity> = runs.iter().map(of_run).collect();
    for (index, validity) in validities.iter().enumerate() {
        for check in validity.faults() {
            let which = match runs.len() {
                1 => String::new(),
                _ => format!("run {}: ", index + 1),
            };
            lower(Verdict::Invalid, format!("{which}{}", check.why));
        }
    }
    let worst = validities.iter().find(|validity| !validity.is_valid());
    let validity = worst.or(validities.first()).cloned().unwrap_or_default();
    Judgement {
        verdict,
        findings,
        why,
        validity,
        runs: runs.len(),
    }
}

/// That the backlog grew in most of the runs.
fn growth(runs: &[Run]) -> Option<String> {
    let grew = grown(runs);
    if grew == 0 || grew * 2 <= runs.len() {
        return None;
    }
    let rates = runs.iter().filter_map(Run::backlog);
    let rates = rates.filter(|backlog| backlog.grows);
    let mean = rates.map(|backlog| backlog.per_second).sum::<f64>() / grew as f64;
    let which = match runs.len() {
        1 => String::new(),
        n => format!(" in {grew} of {n} runs"),
    };
    Some(format!(
        "the backlog grew by {mean:.2} requests per second{which}: more came than was served"
    ))
}

fn of_term(term: &Term<'_>, runs: &[Run], floor: Option<&Floor>) -> Finding {
    let bound = term.bound;
    let mut finding = Finding {
        bound: bound.clone(),
        limit: term.limit,
        basis: term.basis,
        value: None,
        at_least: false,
        interval: None,
        sections: Sections::Windows,
        ratios: None,
        verdict: Verdict::Inconclusive,
        why: String::new(),
        reason: String::new(),
    };
    let of = match Of::find(term, runs) {
        Ok(of) => of,
        Err(why) => {
            finding.reason.clone_from(&why);
            finding.why = why;
            return finding;
        }
    };
    of.measure(&mut finding);
    finding.ratios = ratios(term, floor, finding.value);
    let (verdict, reason) = of.verdict(&finding);
    (finding.verdict, finding.reason) = match term.broken_by_floor() {
        Some(at_floor) => (
            Verdict::Infeasible,
            format!(
                "physically impossible: an idle service takes {} already",
                Ns(at_floor)
            ),
        ),
        None => (verdict, reason),
    };
    finding.why = of.told(&finding);
    finding
}

fn ratios(term: &Term<'_>, floor: Option<&Floor>, value: Option<f64>) -> Option<Ratios> {
    let (floor, Statistic::Quantile(q)) = (floor?, term.bound.statistic) else {
        return None;
    };
    let (kind, metric) = (term.bound.kind.as_deref(), &term.bound.metric);
    let value = value? - floor.rtt_ns(metric);
    let s = floor.s_ns(kind, metric).filter(|s| *s > 0.0)?;
    let same = floor.quantile_ns(kind, metric, q);
    Some(Ratios {
        literal: value / s,
        inflation: same.filter(|same| *same > 0.0).map(|same| value / same),
    })
}

/// What a bound is on: all arrivals of the runs, or those of one kind.
pub(super) struct Of<'a> {
    runs: &'a [Run],
    term: &'a Term<'a>,
    kind: Option<Kind>,
    pub(super) series: Series,
}

impl<'a> Of<'a> {
    /// Of which arrivals the bound speaks; if there are no such, why.
    pub(super) fn find(term: &'a Term<'a>, runs: &'a [Run]) -> Result<Self, String> {
        let first = runs.first().ok_or("there is no run")?;
        let kinds = first.plan().kinds();
        let kind = match &term.bound.kind {
            None => None,
            Some(name) => match kinds.get(name) {
                Some(kind) => Some(kind),
                None if kinds.is_empty() => {
                    return Err("the run does not tell kinds of request apart".to_owned());
                }
                None => {
                    let names: Vec<_> = kinds.iter().map(|(_, name)| name).collect();
                    return Err(format!(
                        "the run has no such kind of request; there are: {}",
                        names.join(", ")
                    ));
                }
            },
        };
        if term.limit.is_none() {
            return Err(
                "it is a multiple of the floor, which a run does not measure: judge the objective on a floor"
                    .to_owned(),
            );
        }
        let metric = &term.bound.metric;
        let series = runs.iter().map(|run| match kind {
            None => run.series(metric),
            Some(kind) => run.series_of(kind, metric),
        });
        let of = Of {
            runs,
            term,
            kind,
            series: Series::merged(series),
        };
        if let Some(good) = &term.bound.good
            && !Good::is_told(runs)
        {
            return Err(format!(
                "nothing was counted as good or not: tell the adapter that an answer is good with {good}"
            ));
        }
        let is_of_stage =
            matches!(metric, Metric::Named(_)) && term.bound.statistic.is_of_latency();
        match is_of_stage && of.series.whole().count() == 0 {
            true => Err(of.no_such_stage()),
            false => Ok(of),
        }
    }

    fn no_such_stage(&self) -> String {
        let mut stages = Vec::new();
        for window in self.runs.iter().flat_map(|run| run.snapshot().windows()) {
            for (name, _) in window.metrics() {
                if !stages.contains(&name) {
                    stages.push(name);
                }
            }
        }
        match stages.is_empty() {
            true => "no request had such a stage, or any".to_owned(),
            false => format!(
                "no request had such a stage; there are: {}",
                stages.join(", ")
            ),
        }
    }

    fn measure(&self, finding: &mut Finding) {
        let series = &self.series;
        finding.sections = series.sections();
        match self.term.bound.statistic {
            Statistic::Quantile(q) => match series.quantile(q) {
                None => {}
                Some(Value::AtLeast(ns)) => {
                    (finding.value, finding.at_least) = (Some(ns as f64), true);
                }
                Some(Value::Exact(ns)) => {
                    finding.value = Some(ns as f64);
                    finding.interval = series.interval(q);
                }
            },
            // A mean of which some parts are lower bounds is one itself.
            Statistic::Mean => {
                finding.value = series.whole().mean_ns();
                finding.at_least = series.whole().at_least.count() > 0;
                finding.interval = series.mean_interval();
            }
            Statistic::Errors => {
                finding.value = series.error_share();
                finding.interval = series.error_interval();
            }
            Statistic::Achieved => {
                finding.value = self.achieved();
                finding.interval = self.achieved_interval();
            }
            Statistic::Goodput => {
                let good = self.good();
                finding.value = good.share();
                finding.interval = good.share_interval();
            }
            Statistic::GoodputRate => {
                let good = self.good();
                let seconds = self.steady_seconds();
                finding.value = (seconds > 0.0).then(|| good.total() / seconds);
                finding.interval = finding.value.and_then(|rate| {
                    let is_whole = self.runs.iter().all(|run| run.interrupted().is_none());
                    good.rate_interval(rate, seconds).filter(|_| is_whole)
                });
            }
        }
    }

    fn good(&self) -> Good {
        Good::of(self.runs, self.kind)
    }

    /// What the figures say, and what they do not say themselves.
    fn verdict(&self, finding: &Finding) -> (Verdict, String) {
        let told = |verdict, reason: &str| (verdict, reason.to_owned());
        let (Some(value), Some(limit)) = (finding.value, finding.limit) else {
            return told(Verdict::Inconclusive, "nothing was measured");
        };
        let statistic = self.term.bound.statistic;
        if statistic == Statistic::Achieved && self.is_of_shard() {
            return told(
                Verdict::Inconclusive,
                "it is a part of what all shards achieve together: their merged report tells",
            );
        }
        if finding.at_least && statistic == Statistic::Mean {
            let verdict = match value > limit {
                true => Verdict::Fail,
                false => Verdict::Inconclusive,
            };
            return told(
                verdict,
                "arrivals that were not served count with the age they had",
            );
        }
        if finding.at_least {
            return told(Verdict::Fail, "it falls on arrivals that were not served");
        }
        let Some((low, high)) = finding.interval else {
            return told(
                Verdict::Inconclusive,
                "no interval: a part of the steady phase has no arrivals",
            );
        };
        let (is_broken, is_kept) = match statistic.is_at_least() {
            true => (high < limit, low >= limit),
            false => (low > limit, high <= limit),
        };
        if is_broken {
            return told(Verdict::Fail, "");
        }
        if is_kept {
            return match self.too_few(value, limit) {
                None => told(Verdict::Pass, ""),
                Some(why) => (Verdict::Inconclusive, why),
            };
        }
        (
            Verdict::Inconclusive,
            format!(
                "the interval straddles the bound{}",
                self.longer(value, limit, high - low)
            ),
        )
    }

    /// Which length would tell, if the figure stays where it is.
    fn longer(&self, value: f64, limit: f64, width: f64) -> String {
        let factor = (width / 2.0 / (limit - value).abs()).powi(2);
        let needed = self.steady_seconds() * factor;
        match factor.is_finite() && factor < 1000.0 {
            true => format!(
                ": a steady phase of about {needed:.0} s would tell, if it stays where it is"
            ),
            false => ", and it lies on it: no length would tell".to_owned(),
        }
    }

    /// All in one sentence, for those who do not print the table.
    fn told(&self, finding: &Finding) -> String {
        let shown = |x| self.term.bound.statistic.shown(x);
        let Some(value) = finding.value else {
            return finding.reason.clone();
        };
        let value = match finding.at_least {
            true => format!("at least {}", shown(value)),
            false => shown(value),
        };
        let interval = match (finding.interval, finding.at_least) {
            (Some((low, high)), false) => format!(
                " (95 % interval {} to {}, {})",
                shown(low),
                shown(high),
                finding.sections
            ),
            _ => String::new(),
        };
        let reason = match finding.reason.is_empty() {
            true => String::new(),
            false => format!(": {}", finding.reason),
        };
        format!("{value}{interval}{reason}")
    }

    /// The responses of each run, in the course of time and as a whole.
    pub(super) fn responses(&self) -> impl Iterator<Item = (&'a Course, Population)> {
        let runs = self.runs.iter().map(|run| match self.kind {
            None => run.series(&Metric::Response),
            Some(kind) => run.series_of(kind, &Metric::Response),
        });
        self.courses()
            .zip(runs.map(|series| series.whole().clone()))
    }

    pub(super) fn courses(&self) -> impl Iterator<Item = &'a Course> {
        let kind = self.kind;
        self.runs.iter().filter_map(move |run| match kind {
            None => Some(run.snapshot().course()),
            Some(kind) => run.snapshot().of_kind(kind).course(),
        })
    }

    /// The length of all steady phases together.
    fn steady_seconds(&self) -> f64 {
        let lengths = self.runs.iter().map(|run| run.steady_length());
        lengths.map(|length| length.as_secs_f64()).sum()
    }

    /// Arrivals of the steady phases.
    fn scheduled(&self) -> u64 {
        let of_run = |run: &Run| match self.kind {
            None => run.snapshot().steady_counts().scheduled,
            Some(kind) => {
                let of_kind = run.snapshot().of_kind(kind);
                of_kind.phase_counts(Phase::Steady).scheduled
            }
        };
        self.runs.iter().map(of_run).sum()
    }

    /// Whether the runs are parts of what others share with them.
    fn is_of_shard(&self) -> bool {
        self.runs.iter().any(|run| run.plan().shard().count() > 1)
    }

    fn achieved(&self) -> Option<f64> {
        let (mut completions, mut seconds) = (0, 0.0);
        for (course, run) in self.courses().zip(self.runs) {
            let end = run.snapshot().layout().steady().to;
            let end = run.interrupted().map_or(end, |at| at.min(end));
            let (count, counted) = course.ok_completions_before(end);
            completions += count;
            seconds += counted.as_secs_f64();
        }
        (seconds > 0.0).then(|| completions as f64 / seconds)
    }

    fn achieved_interval(&self) -> Option<(f64, f64)> {
        if self.runs.iter().any(|run| run.interrupted().is_some()) {
            return None;
        }
        let seconds = self.steady_seconds() / self.runs.len() as f64 / WINDOWS as f64;
        let of_course = |course: &Course| -> Vec<f64> {
            let windows = course.slices().chunks(SLICES / WINDOWS);
            let counts = windows.map(|window| window.iter().map(|s| s.ok_completions).sum::<u64>());
            counts.map(|count| count as f64 / seconds).collect()
        };
        let by_run: Vec<Vec<f64>> = self.courses().map(of_course).collect();
        let n = by_run.len() as f64;
        let sections: Vec<f64> = match by_run.len() >= ENOUGH_RUNS {
            true => by_run
                .iter()
                .map(|windows| windows.iter().sum::<f64>() / WINDOWS as f64)
                .collect(),
            false => (0..WINDOWS)
                .map(|index| by_run.iter().map(|windows| windows[index]).sum::<f64>() / n)
                .collect(),
        };
        section(self.achieved()?, &sections)
    }

    /// Why the data do not resolve a figure that seems to keep its bound; `None` if they do.
    fn too_few(&self, value: f64, limit: f64) -> Option<String> {
        let q = match self.term.bound.statistic {
            Statistic::Quantile(q) => q,
            Statistic::Errors => return self.too_few_for_errors(value, limit),
            // What is not good is counted like what was not served.
            Statistic::Goodput => return self.too_few_for_errors(1.0 - value, 1.0 - limit),
            Statistic::Mean | Statistic::Achieved | Statistic::GoodputRate => return None,
        };
        let above: u64 = match self.term.bound.metric {
            Metric::Response | Metric::ResponseOk | Metric::ResponseSlo => self
                .courses()
                .map(|course| course.excursions_above(value as u64))
                .sum(),
            // Of other metrics there is no course in time: single values are counted instead.
            _ => {
                let n = self.series.whole().count();
                n - q.rank(n)
            }
        };
        if above >= EXCURSIONS {
            return None;
        }
        // Each excursion is an arrival at least: of fewer arrivals than this there cannot be enough.
        let arrivals = self.scheduled() as f64 * (1.0 - q.as_f64());
        let by_arrivals = EXCURSIONS as f64 / arrivals;
        let (how, factor) = match above {
            0 => ("at least", by_arrivals),
            above => ("about", by_arrivals.max(EXCURSIONS as f64 / above as f64)),
        };
        let needed = (self.steady_seconds() * factor).ceil();
        Some(match needed.is_finite() {
            true => format!(
                "only {above} separate excursions lie above it and {EXCURSIONS} are needed: a steady phase of {how} {needed:.0} s would do"
            ),
            false => "nothing lies above the largest, so no length would tell: bound a quantile such as p99.9".to_owned(),
        })
    }

    /// Without an error among n arrivals, their share may still be up to 3/n (at 95 %).
    fn too_few_for_errors(&self, share: f64, limit: f64) -> Option<String> {
        let n = self.scheduled() as f64;
        let needed = (3.0 / limit).ceil();
        (share == 0.0 && limit > 0.0 && n < needed).then(|| {
            format!("none among {n:.0} arrivals says no more than that: {needed:.0} are needed")
        })
    }
}
