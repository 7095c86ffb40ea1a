//! Two reports side by side.

mod change;

pub use change::{Change, ChangeUnit, ChangeVerdict};

use crate::Report;
use crate::schema::{StoredError, Summary};
use crate::words::units::rate;
use crate::words::{Said, Tone};
use openloop_experiment::{Change as Shift, Figure, FigureError, Gate, Series};
use openloop_measurer::{Population, Quantile};

/// Two reports side by side: A is what was, B is what is.
///
/// What differs is told by the [`Gate`] against regressions: Welch's test on the logarithms of the quantiles of the ten
/// windows of each steady phase, at 2 % false alarms for each figure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// What A is called.
    pub a: String,
    /// What B is called.
    pub b: String,
    /// What makes the two hard to compare, in sentences.
    pub doubts: Vec<String>,
    /// Figure by figure.
    pub changes: Vec<Change>,
    /// The name of the one that decides: of twenty figures, each with 2 % false alarms, one in three comparisons of
    /// equals would find one that differs.
    by: String,
    valid: bool,
}

/// The figure that decides unless another one is named.
const MEDIAN: &str = "response p50";

/// The quantiles that are compared.
const QUANTILES: [(&str, &str, Quantile); 4] = [
    ("p50", "p50_ns", Quantile::P50),
    ("p90", "p90_ns", Quantile::P90),
    ("p99", "p99_ns", Quantile::P99),
    ("p99.9", "p99_9_ns", Quantile::P99_9),
];

impl Comparison {
    /// What every comparison says below.
    pub const NOTE: &'static str = "98 % intervals by Welch's test on the logarithms of the quantiles of ten windows each: 2 % false alarms a figure. \
        What changes from one day to the next is in no interval: where both builds are at hand, run them in turn, A B B A, with one seed.";

    /// Compares `b` with `a`.
    ///
    /// # Errors
    /// When the histograms of a report cannot be read.
    pub fn new(a: &Report, b: &Report) -> Result<Self, StoredError> {
        let mut changes = Vec::new();
        let [ours, theirs] = [a, b].map(|report| report.latency.response.as_ref());
        compare("response", ours, theirs, &QUANTILES, &mut changes)?;
        let [ours, theirs] = [a, b].map(|report| report.latency.response_slo.as_ref());
        compare("response_slo", ours, theirs, &QUANTILES[2..3], &mut changes)?;
        changes.extend(not_served(ours, theirs)?);
        changes.push(achieved(a, b));
        for (name, ours) in &a.metrics {
            let theirs = b.metrics.get(name).and_then(Option::as_ref);
            compare(
                name,
                ours.as_ref(),
                theirs,
                &[QUANTILES[0], QUANTILES[2]],
                &mut changes,
            )?;
        }
        for (name, ours) in &a.kinds {
            let of = |kind: &crate::schema::Kind| kind.latency.response_slo.clone();
            let (ours, theirs) = (of(ours), b.kinds.get(name).and_then(of));
            let name = if name.is_empty() {
                "(no kind)"
            } else {
                name.as_str()
            };
            let name = format!("{name}: response_slo");
            compare(
                &name,
                ours.as_ref(),
                theirs.as_ref(),
                &[QUANTILES[0], QUANTILES[2]],
                &mut changes,
            )?;
        }
        Ok(Comparison {
            a: called(a),
            b: called(b),
            doubts: doubts(a, b),
            changes,
            by: MEDIAN.to_owned(),
            valid: a.validity.valid && b.validity.valid,
        })
    }

    /// The same, decided by another figure than the median of the response: `response p99`, one of the
    /// [names](Change::name). It must be named before the data are looked at.
    ///
    /// # Errors
    /// When there is no such figure.
    pub fn by(mut self, name: &str) -> Result<Self, UnknownFigure> {
        let known = self.changes.iter().map(|change| change.name.clone());
        let known: Vec<String> = known.collect();
        match known.iter().any(|known| known == name) {
            true => {
                self.by = name.to_owned();
                Ok(self)
            }
            false => Err(UnknownFigure {
                name: name.to_owned(),
                known: known.join(", "),
            }),
        }
    }

    /// The figure that decides.
    fn decisive(&self) -> Option<&Change> {
        self.changes.iter().find(|change| change.name == self.by)
    }

    /// Whether B is worse in the figure that decides; `None` where the data cannot tell, or a run may not be believed.
    #[must_use]
    pub fn is_worse(&self) -> Option<bool> {
        let verdict = &self.decisive().filter(|_| self.valid)?.verdict;
        match verdict {
            ChangeVerdict::Worse => Some(true),
            ChangeVerdict::Better | ChangeVerdict::NoDifference => Some(false),
            ChangeVerdict::Unknown(_) | ChangeVerdict::NotJudged => None,
        }
    }

    /// What comes out, in a sentence.
    pub(crate) fn conclusion(&self) -> Said {
        let by = &self.by;
        let (tone, text) = match self.decisive() {
            _ if !self.valid => (
                Tone::Bad,
                "INVALID: a run that may not be believed cannot be compared".to_owned(),
            ),
            None => (Tone::Doubtful, format!("UNKNOWN: there is no {by}")),
            Some(change) => {
                let change_by = format!(
                    "{by} {} (98 %: {})",
                    change.ratio_text(),
                    change.interval_text()
                );
                match &change.verdict {
                    ChangeVerdict::Worse => (Tone::Bad, format!("WORSE: {change_by}")),
                    ChangeVerdict::Better => (Tone::Good, format!("BETTER: {change_by}")),
                    ChangeVerdict::NoDifference => (
                        Tone::Plain,
                        format!("NO DIFFERENCE that these data can show: {change_by}"),
                    ),
                    ChangeVerdict::Unknown(why) => {
                        (Tone::Doubtful, format!("UNKNOWN: {by}: {why}"))
                    }
                    ChangeVerdict::NotJudged => {
                        (Tone::Doubtful, format!("UNKNOWN: {by} is not judged"))
                    }
                }
            }
        };
        Said { tone, text }
    }

    /// Which of the other figures differ.
    pub(crate) fn others(&self) -> Option<String> {
        let named = |verdict: &ChangeVerdict| {
            let others = self.changes.iter().filter(|change| change.name != self.by);
            let names = others.filter(|change| change.verdict == *verdict);
            names.map(|change| change.name.as_str()).collect::<Vec<_>>()
        };
        let lists = [
            ("worse", named(&ChangeVerdict::Worse)),
            ("better", named(&ChangeVerdict::Better)),
        ];
        let lists = lists.iter().filter(|(_, names)| !names.is_empty());
        let said: Vec<String> = lists
            .map(|(how, names)| format!("{how} in {}", listed(names)))
            .collect();
        (!said.is_empty()).then(|| format!("{}; they do not decide", said.join(", ")))
    }
}

/// A name that is none of a figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no figure \"{name}\" to compare; there are: {known}")]
pub struct UnknownFigure {
    name: String,
    known: String,
}

/// The first few, and how many more.
fn listed(names: &[&str]) -> String {
    match names.len() {
        0..=4 => names.join(", "),
        n => format!("{} and {} more", names[..3].join(", "), n - 3),
    }
}

fn called(report: &Report) -> String {
    let name = report.title.as_ref().or(report.target.as_ref());
    let name = name.map_or("a run", String::as_str);
    match &report.started_at {
        Some(at) => format!("{name}, {at}"),
        None => name.to_owned(),
    }
}

fn doubts(a: &Report, b: &Report) -> Vec<String> {
    let mut doubts = Vec::new();
    for (name, report) in [("A", a), ("B", b)] {
        if !report.validity.valid {
            doubts.push(format!(
                "{name} is INVALID: its generator or machine failed"
            ));
        }
        if report.interrupted {
            doubts.push(format!("{name} was interrupted"));
        }
        if report.backlog.is_some_and(|backlog| backlog.grows) {
            doubts.push(format!(
                "the backlog of {name} grew: its percentiles depend on how long it ran"
            ));
        }
    }
    if a.loop_kind != b.loop_kind {
        doubts.push(format!(
            "A is a run of an {} loop and B of an {} loop: their latencies mean different things",
            a.loop_kind, b.loop_kind
        ));
    }
    if a.asked_rate != b.asked_rate {
        let asked = |report: &Report| report.asked_rate.map_or("no one rate".to_owned(), rate);
        doubts.push(format!(
            "the loads differ: A was asked for {}, B for {}",
            asked(a),
            asked(b)
        ));
    }
    if a.target != b.target {
        let name = |report: &Report| {
            report
                .target
                .clone()
                .unwrap_or_else(|| "nothing named".to_owned())
        };
        doubts.push(format!("the targets differ: {} and {}", name(a), name(b)));
    }
    if a.seed != b.seed {
        doubts.push(format!(
            "the seeds differ, {} and {}: other requests were sent",
            a.seed, b.seed
        ));
    }
    if a.environment.as_ref().map(|it| it.cores) != b.environment.as_ref().map(|it| it.cores) {
        doubts.push("the generators' machines differ".to_owned());
    }
    doubts
}

/// Adds the quantiles of one latency.
fn compare(
    name: &str,
    a: Option<&Summary>,
    b: Option<&Summary>,
    quantiles: &[(&str, &str, Quantile)],
    into: &mut Vec<Change>,
) -> Result<(), StoredError> {
    let series = |summary: Option<&Summary>| summary.map(Summary::series).transpose();
    let both = [series(a)?, series(b)?];
    for (figure, field, q) in quantiles {
        let value = |summary: Option<&Summary>| {
            let summary = summary?;
            Some((summary.get(field)? as f64, summary.at_least.contains(field)))
        };
        let found = match &both {
            [Some(a), Some(b)] => quantile(a, b, *q),
            _ => Err("one of the two has no such latency".to_owned()),
        };
        into.push(Change {
            name: format!("{name} {figure}"),
            unit: ChangeUnit::Nanoseconds,
            a: value(a),
            b: value(b),
            difference: found.as_ref().ok().and_then(|found| found.ratio),
            verdict: found.map_or_else(ChangeVerdict::Unknown, |found| found.verdict),
        });
    }
    Ok(())
}

/// What the gate against regressions says of a figure: larger is worse.
struct Found {
    verdict: ChangeVerdict,
    /// B over A, with its interval.
    ratio: Option<(f64, [f64; 2])>,
}

/// A quantile of both.
fn quantile(a: &Series, b: &Series, q: Quantile) -> Result<Found, String> {
    let side = |series: &Series| {
        if series.windows().is_empty() {
            return Err("the windows of the run are not in the report".to_owned());
        }
        let count = series.whole().count();
        if count - q.rank(count).min(count) < 10 {
            return Err(
                "fewer than ten responses lie above it: a longer run would tell".to_owned(),
            );
        }
        Figure::of_windows(series.windows(), q).map_err(reason)
    };
    let (a, b) = (side(a)?, side(b)?);
    match a.is_lower_bound() && b.is_lower_bound() {
        true => Err("it falls on arrivals that were not served".to_owned()),
        false => Ok(found(&a, &b)),
    }
}

fn reason(error: FigureError) -> String {
    match error {
        FigureError::NotPositive(_) => "it takes no time".to_owned(),
        other => other.to_string(),
    }
}

fn found(a: &Figure, b: &Figure) -> Found {
    let comparison = Gate::default().compare(a, b);
    Found {
        verdict: match comparison.change {
            Shift::Slower => ChangeVerdict::Worse,
            Shift::Faster => ChangeVerdict::Better,
            Shift::NoDifference => ChangeVerdict::NoDifference,
        },
        ratio: comparison
            .interval
            .map(|(low, high)| (comparison.ratio, [low, high])),
    }
}

/// The share of arrivals that were not served, over the steady phase.
fn not_served(a: Option<&Summary>, b: Option<&Summary>) -> Result<Option<Change>, StoredError> {
    let (Some(a), Some(b)) = (a, b) else {
        return Ok(None);
    };
    let [a, b] = [a.series()?, b.series()?];
    let served = |of: &Population| of.exact.count() as f64 / of.count() as f64;
    let figure = |series: &Series| {
        let windows = series.windows().iter().map(served).collect();
        Figure::new(served(series.whole()), windows)
    };
    // The ratio of what was served, which is above 0 where anything is: larger is better.
    let found = match (figure(&a), figure(&b)) {
        (Ok(a), Ok(b)) => Ok(found(&a, &b)),
        (Err(FigureError::Windows(_)), _) | (_, Err(FigureError::Windows(_))) => {
            Err("the windows of the run are not in the report".to_owned())
        }
        _ => Err("in a window nothing was served".to_owned()),
    };
    let before = served(a.whole());
    let less = |ratio: f64| before * (1.0 - ratio);
    let ratio = found.as_ref().ok().and_then(|found| found.ratio);
    let verdict = found.map(|found| match found.verdict {
        ChangeVerdict::Worse => ChangeVerdict::Better,
        ChangeVerdict::Better => ChangeVerdict::Worse,
        other => other,
    });
    let share = |series: &Series| {
        let share = 1.0 - served(series.whole());
        share.is_finite().then_some((share, false))
    };
    Ok(Some(Change {
        name: "not served".to_owned(),
        unit: ChangeUnit::Share,
        a: share(&a),
        b: share(&b),
        difference: ratio.map(|(ratio, [low, high])| (less(ratio), [less(high), less(low)])),
        verdict: verdict.unwrap_or_else(ChangeVerdict::Unknown),
    }))
}

fn achieved(a: &Report, b: &Report) -> Change {
    let [a, b] = [a, b].map(|report| report.achieved_rate.map(|rate| (rate, false)));
    Change {
        name: "achieved rate".to_owned(),
        unit: ChangeUnit::Rate,
        a,
        b,
        verdict: ChangeVerdict::NotJudged,
        difference: None,
    }
}
