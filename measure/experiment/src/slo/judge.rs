//! How evidence is held against bounds.

use super::bound::Statistic;
use super::judgement::{Finding, Judgement, Ratios};
use super::objective::{Objective, Term};
use super::subject::Of;
use super::verdict::Verdict;
use crate::replicas::{Stability, Steadiness, grown};
use crate::series::Sections;
use crate::units::Ns;
use crate::validity::Validity;
use crate::{Floor, Run};

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

impl Of<'_> {
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
}
