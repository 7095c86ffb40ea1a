//! What is more than one run, in a few lines.

use super::{escaped, row, rule, sign};
use crate::Report;
use crate::schema::Estimate;
use crate::words;
use crate::words::Tone;
use crate::words::units::{Ns, percent, rate};
use crate::words::verdict::tone_of;
use std::io;

/// Replicas, an overload, a sweep, a plan: as far as there is any.
pub(super) fn write(report: &Report, to: &mut impl io::Write) -> io::Result<()> {
    overload(report, to)?;
    sweep(report, to)?;
    replicas(report, to)?;
    plan(report, to)
}

fn overload(report: &Report, to: &mut impl io::Write) -> io::Result<()> {
    let Some(resilience) = &report.resilience else {
        return Ok(());
    };
    writeln!(to, "\n| | past the limit and back | |\n| --- | --- | --- |")?;
    for claim in &resilience.claims {
        let tone = tone_of(report, &claim.verdict);
        let cells = [
            format!("{} {}", sign(tone), escaped(&claim.verdict)),
            escaped(&claim.claim),
            escaped(&claim.found),
        ];
        writeln!(to, "{}", row(&cells))?;
    }
    Ok(())
}

fn sweep(report: &Report, to: &mut impl io::Write) -> io::Result<()> {
    let Some(sweep) = &report.sweep else {
        return Ok(());
    };
    let bounds = words::sweep::bounds(sweep);
    let mut head = vec!["rate", "served", "mean", "p99", "not served"];
    head.extend(bounds.iter().map(|(_, name)| *name));
    head.push("");
    let head: Vec<String> = head.into_iter().map(escaped).collect();
    writeln!(to, "\n{}\n{}", row(&head), rule(head.len()))?;
    let estimate = |estimate: &Option<Estimate>| match estimate {
        None => String::new(),
        Some(found) if found.at_least => format!("≥ {}", Ns(found.ns)),
        Some(found) => Ns(found.ns).to_string(),
    };
    for step in &sweep.points {
        let mut cells = vec![
            rate(step.asked_rate),
            step.achieved_rate.map_or(String::new(), rate),
            estimate(&step.mean),
            estimate(&step.p99),
            step.errors.map_or(String::new(), percent),
        ];
        let more = bounds
            .iter()
            .map(|(place, _)| words::sweep::measured(step, *place));
        cells.extend(more);
        cells.push(match (step.valid, step.saturated, &step.agreement) {
            (false, _, _) => "invalid".to_owned(),
            (true, true, _) => "saturated".to_owned(),
            (true, false, Some(agreement)) if agreement.remedy.is_some() => {
                "the runs disagree".to_owned()
            }
            (true, false, _) => String::new(),
        });
        writeln!(to, "{}", row(&cells))?;
    }
    writeln!(to)?;
    for knee in &sweep.knees {
        let name = escaped(&format!("knee of {}", knee.metric));
        writeln!(to, "- {name}: {}", escaped(&knee.capacity.text))?;
    }
    let sought = sweep.sought.as_deref().unwrap_or_default();
    for (name, capacity) in [
        (format!("capacity within {sought}"), sweep.found.as_ref()),
        ("knee".to_owned(), sweep.knee.as_ref()),
        ("cliff".to_owned(), sweep.cliff.as_ref()),
        ("maximum".to_owned(), Some(&sweep.max)),
    ] {
        if let Some(capacity) = capacity {
            let text = words::sweep::capacity(sweep, capacity);
            writeln!(to, "- {}: {}", escaped(&name), escaped(&text))?;
        }
    }
    writeln!(
        to,
        "- behaves like {}",
        escaped(&sweep.diagnosis.model_text)
    )
}

fn replicas(report: &Report, to: &mut impl io::Write) -> io::Result<()> {
    let Some(replicas) = &report.replicas else {
        return Ok(());
    };
    let tone = match replicas.steadiness.as_str() {
        "stable" => Tone::Good,
        "shared" => Tone::Doubtful,
        _ => Tone::Bad,
    };
    let varies = |name: &str, cv: Option<f64>| {
        cv.map_or(String::new(), |cv| {
            format!(", C_v of the {name} {}", percent(cv))
        })
    };
    writeln!(
        to,
        "\n- {} {} runs: {}{}{}",
        sign(tone),
        replicas.runs.len(),
        escaped(&replicas.steadiness),
        varies("throughput", replicas.throughput.as_ref().map(|of| of.cv)),
        varies("mean", replicas.mean.as_ref().map(|of| of.cv)),
    )
}

fn plan(report: &Report, to: &mut impl io::Write) -> io::Result<()> {
    let Some(plan) = &report.plan else {
        return Ok(());
    };
    let head = [
        format!("for a peak of {}", rate(plan.peak_rate)),
        String::new(),
        "formula".to_owned(),
        "with".to_owned(),
    ];
    writeln!(to, "\n{}\n{}", row(&head), rule(head.len()))?;
    for item in &plan.items {
        let cells = [
            escaped(&item.name),
            crate::words::plan::shown(item.value, &item.unit),
            escaped(&item.formula),
            escaped(&crate::words::plan::inputs(item)),
        ];
        writeln!(to, "{}", row(&cells))?;
    }
    Ok(())
}
