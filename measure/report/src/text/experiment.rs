//! What is more than one run: the problem, the floor, replicas, a sweep, and the plan that follows.

use super::page::Page;
use super::table::Table;
use crate::Report;
use crate::schema::{Agreement, Capacity, Diagnosis, Estimate, Level, Step, Sweep, Variation};
use crate::words::units::{Ns, length, percent, rate};
use crate::words::verdict::tone_of;
use crate::words::{self, Tone};
use std::io;

/// All of it, as far as there is any.
pub(super) fn write<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    problem(report, page)?;
    turns(report, page)?;
    sweep(report, page)?;
    resilience(report, page)?;
    plan(report, page)?;
    floor(report, page)?;
    replicas(report, page)
}

/// What of the problem is missing, doubtful or otherwise than it says, and which failures were seen.
fn problem<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(problem) = &report.problem else {
        return Ok(());
    };
    let mut label = "problem";
    for remark in problem
        .remarks
        .iter()
        .filter(|remark| remark.standing != "confirmed")
    {
        let tone = match remark.standing.as_str() {
            "contradicted" => Tone::Bad,
            _ => Tone::Doubtful,
        };
        let text = format!("{}: {}", remark.about, remark.why);
        page.item(label, (&remark.standing, tone), &text)?;
        label = "";
    }
    let mut label = "failures";
    for evidence in &problem.evidence {
        let (word, tone) = match (evidence.found.as_str(), evidence.anticipated) {
            ("seen", true) => ("seen", Tone::Doubtful),
            ("seen", false) => ("seen, not anticipated", Tone::Bad),
            ("not_seen", _) => ("not seen", Tone::Plain),
            _ => ("not measured", Tone::Faint),
        };
        let text = format!("{}: {}", evidence.mode, evidence.why);
        page.item(label, (word, tone), &text)?;
        label = "";
    }
    Ok(())
}

/// What another build did by turns with this one.
fn turns<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(turns) = &report.by_turns else {
        return Ok(());
    };
    page.blank()?;
    let tone = match (turns.faults.is_empty(), turns.change.as_str()) {
        (false, _) | (true, "slower") => Tone::Bad,
        (true, "faster") => Tone::Good,
        (true, _) => Tone::Plain,
    };
    page.entry("by turns", Tone::Plain, &format!("against {}", turns.base))?;
    for line in turns.text.lines() {
        page.entry("", tone, line.trim())?;
    }
    Ok(())
}

/// How long an idle service takes.
fn floor<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(floor) = &report.floor else {
        return Ok(());
    };
    page.blank()?;
    let mut text = match floor.trials {
        0 => "as stated".to_owned(),
        n => format!("{n} trials of one request at a time"),
    };
    if let Some(utilisation) = floor.utilisation {
        text.push_str(&format!(
            ", the service used {} of the time",
            percent(utilisation)
        ));
    }
    if let Some(s) = floor.s_ns {
        text.push_str(&format!("; S = {}", Ns(s)));
    }
    text.push_str(&match floor.rtt_source.as_str() {
        "same_host" => ", on the same host".to_owned(),
        "unknown" => ", the round trip, which is not known, in it".to_owned(),
        _ => format!(", without a round trip of {}", Ns(floor.rtt_ns as f64)),
    });
    if let Some(cold) = floor.cold_ns {
        text.push_str(&format!(
            "; the first request of all took {}",
            Ns(cold as f64)
        ));
    }
    page.entry("floor", Tone::Plain, &text)?;
    let mut table = Table::new(["", "min", "mean", "p50", "p95", "p99"]);
    for level in &floor.levels {
        table.row(cells(level));
    }
    page.table(&table)?;
    for text in &floor.faults {
        page.entry("fault", Tone::Bad, text)?;
    }
    for text in &floor.warnings {
        page.entry("", Tone::Doubtful, text)?;
    }
    Ok(())
}

fn cells(level: &Level) -> Vec<(String, Tone)> {
    let name = match &level.kind {
        Some(kind) => format!("{}[{kind}]", level.metric),
        None => level.metric.clone(),
    };
    let figures = [
        level.min_ns,
        level.mean_ns,
        level.p50_ns,
        level.p95_ns,
        level.p99_ns,
    ];
    let figures = figures.map(|ns| (Ns(ns).to_string(), Tone::Plain));
    std::iter::once((name, Tone::Plain))
        .chain(figures)
        .collect()
}

/// Whether the runs agree.
fn replicas<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(replicas) = &report.replicas else {
        return Ok(());
    };
    page.blank()?;
    let tone = match replicas.steadiness.as_str() {
        "stable" => Tone::Good,
        "shared" => Tone::Doubtful,
        _ => Tone::Bad,
    };
    let varies = |name: &str, variation: &Option<Variation>| {
        let variation = variation.as_ref()?;
        Some(format!("{name} C_v {}", percent(variation.cv)))
    };
    let figures = [
        varies("throughput", &replicas.throughput),
        varies("mean", &replicas.mean).map(|mean| match replicas.mean_by_sampling {
            Some(chance) => format!("{mean} ({} by sampling)", percent(chance)),
            None => mean,
        }),
    ];
    let mut parts: Vec<String> = figures.into_iter().flatten().collect();
    for quantile in &replicas.quantiles {
        parts.push(format!(
            "{} {} beyond the {} of sampling",
            quantile.quantile,
            percent(quantile.excess),
            percent(quantile.by_sampling)
        ));
    }
    let text = format!("{} runs: {}", replicas.runs.len(), parts.join(", "));
    page.item("replicas", (&replicas.steadiness, tone), &text)?;
    if let Some(remedy) = &replicas.remedy {
        page.entry("", Tone::Doubtful, remedy)?;
    }
    match replicas.discarded {
        0 => Ok(()),
        n => page.entry(
            "",
            Tone::Doubtful,
            &format!("{n} sets of runs before them were discarded"),
        ),
    }
}

/// The curve, and what follows from it.
fn sweep<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(sweep) = &report.sweep else {
        return Ok(());
    };
    page.blank()?;
    let bounds = words::sweep::bounds(sweep);
    let head = [
        "sweep",
        "achieved",
        "mean",
        "p50",
        "p95",
        "p99",
        "x floor",
        "zone",
        "errors",
        "in flight",
        "replicas",
        "",
    ];
    let counted = sweep.counted.as_ref();
    let counted = counted.map(|counted| format!("{}/s", counted.name.replace('_', " ")));
    let more = bounds.iter().map(|(_, name)| *name);
    let mut table = Table::new(head.into_iter().chain(counted.as_deref()).chain(more));
    for step in &sweep.points {
        let mut row = row(step);
        let tone = row.first().map_or(Tone::Plain, |(_, tone)| *tone);
        if counted.is_some() {
            row.push((step.counted_rate.map_or_else(String::new, rate), tone));
        }
        let more = bounds
            .iter()
            .map(|(place, _)| words::sweep::measured(step, *place));
        row.extend(more.map(|text| (text, tone)));
        table.row(row);
    }
    page.table(&table.without_empty_columns())?;
    for knee in &sweep.knees {
        let text = format!(
            "of {} (p99 up to 3 times its floor): {}",
            knee.metric, knee.capacity.text
        );
        page.entry("knee", Tone::Plain, &text)?;
    }
    for (label, capacity) in limits(sweep) {
        let tone = match capacity.known.as_str() {
            "found" => Tone::Good,
            "at_least" => Tone::Plain,
            _ => Tone::Doubtful,
        };
        let text = match (&sweep.knee_rule, label) {
            (Some(rule), "knee") => format!("{rule}: {}", capacity.text),
            _ => capacity.text.clone(),
        };
        page.entry(label, tone, &text)?;
    }
    if let (Some(sought), Some(found)) = (&sweep.sought, &sweep.found) {
        page.entry(
            "capacity",
            Tone::Strong,
            &format!("{sought}: {}", words::sweep::capacity(sweep, found)),
        )?;
    }
    laws(sweep, page)?;
    diagnosis(&sweep.diagnosis, page)?;
    for warning in &sweep.warnings {
        page.entry("", Tone::Doubtful, warning)?;
    }
    if let Some(reported) = sweep.reported_rate {
        let steady = length(report.steady_ns);
        let text = format!(
            "what follows was measured at {}, for {steady}",
            rate(reported)
        );
        page.entry("", Tone::Plain, &text)?;
    }
    Ok(())
}

/// Laws through the points, and how busy the service is by each way of telling.
fn laws<W: io::Write>(sweep: &Sweep, page: &mut Page<W>) -> io::Result<()> {
    if let Some(fit) = &sweep.fits.mmc {
        let text = format!(
            "M/M/{} with S = {} and at most {}: {} (points lie within {})",
            fit.servers,
            Ns(fit.service_ns),
            rate(fit.highest_rate),
            fit.goodness,
            fit.relative_error.map_or_else(|| "?".to_owned(), percent)
        );
        page.entry("fit", Tone::Plain, &text)?;
    }
    let mut label = "busy";
    for told in &sweep.utilisation {
        let value = told.value.map_or_else(|| "?".to_owned(), percent);
        let text = format!("by {}, if {}", told.formula, told.assumes);
        page.item(label, (&value, Tone::Plain), &text)?;
        label = "";
    }
    Ok(())
}

/// Which queue the service behaves like.
fn diagnosis<W: io::Write>(diagnosis: &Diagnosis, page: &mut Page<W>) -> io::Result<()> {
    page.entry(
        "behaves",
        Tone::Strong,
        &format!("like {}", diagnosis.model_text),
    )?;
    page.entry("its tail", Tone::Plain, &diagnosis.tail_text)?;
    for evidence in &diagnosis.evidence {
        page.item("", ("for", Tone::Good), evidence)?;
    }
    for doubt in &diagnosis.doubts {
        page.item("", ("doubt", Tone::Doubtful), doubt)?;
    }
    for class in &diagnosis.systems {
        let text = format!(
            "such as {}: {} fails first",
            class.examples, class.first_failure
        );
        page.entry("", Tone::Faint, &text)?;
    }
    Ok(())
}

/// What an overload did to the service.
fn resilience<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(resilience) = &report.resilience else {
        return Ok(());
    };
    page.blank()?;
    let mut label = "overload";
    for claim in &resilience.claims {
        let tone = tone_of(report, &claim.verdict);
        let text = format!("{}: {}", claim.claim, claim.found);
        page.item(label, (&claim.verdict, tone), &text)?;
        label = "";
    }
    for why in &resilience.why {
        page.entry("", Tone::Doubtful, why)?;
    }
    let mut table = Table::new([
        "", "offered", "achieved", "ok", "shed", "failed", "p50", "p99",
    ]);
    for (name, stage) in [
        ("before", &resilience.before),
        ("overload", &resilience.during),
        ("after", &resilience.after),
    ] {
        let share = |share: Option<f64>| share.map_or_else(String::new, percent);
        let ns = |ns: Option<u64>| ns.map_or_else(String::new, |ns| Ns(ns as f64).to_string());
        let cells = [
            name.to_owned(),
            stage.offered_rate.map_or_else(String::new, rate),
            stage.achieved_rate.map_or_else(String::new, rate),
            share(stage.ok),
            share(stage.shed),
            share(stage.failed),
            ns(stage.p50_ns),
            ns(stage.p99_ns),
        ];
        table.row(cells.map(|cell| (cell, Tone::Plain)));
    }
    page.table(&table)
}

/// What has to be bought and set.
fn plan<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(plan) = &report.plan else {
        return Ok(());
    };
    page.blank()?;
    let peak = format!("for a peak of {}, on such nodes", rate(plan.peak_rate));
    page.entry("plan", Tone::Strong, &peak)?;
    for item in &plan.items {
        let value = words::plan::shown(item.value, &item.unit);
        let with = words::plan::inputs(item);
        let why = match item.why.as_str() {
            "" => String::new(),
            why => format!("; {why}"),
        };
        let text = format!("{} = {}: {with}{why}", item.name, item.formula);
        page.item("", (&value, Tone::Strong), &text)?;
    }
    for missing in &plan.missing {
        let text = format!("{}: needs {}", missing.name, missing.needs);
        page.item("", ("?", Tone::Faint), &text)?;
    }
    Ok(())
}

fn limits(sweep: &Sweep) -> impl Iterator<Item = (&'static str, &Capacity)> {
    let knee = sweep.knee.as_ref().map(|knee| ("knee", knee));
    let cliff = sweep.cliff.as_ref().map(|cliff| ("cliff", cliff));
    [knee, cliff, Some(("maximum", &sweep.max))]
        .into_iter()
        .flatten()
}

fn row(step: &Step) -> Vec<(String, Tone)> {
    let tone = match (step.valid, step.saturated) {
        (false, _) => Tone::Faint,
        (true, true) => Tone::Bad,
        (true, false) => Tone::Plain,
    };
    let estimate = |estimate: &Option<Estimate>| match estimate {
        None => String::new(),
        Some(found) if found.at_least => format!("≥ {}", Ns(found.ns)),
        Some(found) => Ns(found.ns).to_string(),
    };
    let cells = [
        rate(step.asked_rate),
        step.achieved_rate.map_or_else(String::new, rate),
        estimate(&step.mean),
        estimate(&step.p50),
        estimate(&step.p95),
        estimate(&step.p99),
        step.p99_ratio
            .map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        step.zone.clone().unwrap_or_default(),
        step.errors.map_or_else(String::new, percent),
        step.in_flight
            .map_or_else(String::new, |n| format!("{n:.1}")),
        step.agreement
            .as_ref()
            .map_or_else(String::new, Agreement::told),
        match (step.valid, step.saturated) {
            (false, _) => "invalid".to_owned(),
            (true, true) if step.zone.is_none() => "saturated".to_owned(),
            (true, _) => String::new(),
        },
    ];
    cells.map(|cell| (cell, tone)).into()
}
