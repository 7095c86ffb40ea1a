//! Rates, arrivals, and what the run cost.

use super::page::Page;
use super::style::Tone;
use super::units::{Ns, count, percent, rate};
use crate::Report;
use std::io;

pub(super) fn rates<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let or_none = |per_second: Option<f64>| per_second.map_or("none".to_owned(), rate);
    let asked = report
        .asked_rate
        .map(|asked| format!("asked {}, ", rate(asked)));
    let text = format!(
        "{}offered {}, achieved {}",
        asked.unwrap_or_default(),
        or_none(report.offered_rate),
        or_none(report.achieved_rate)
    );
    page.entry("rate", Tone::Plain, &text)
}

/// The identity of all arrivals, and the classes of what was not served.
pub(super) fn arrivals<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let arrivals = &report.arrivals;
    let terms: Vec<String> = arrivals
        .by_outcome()
        .into_iter()
        .filter(|(name, n)| *n > 0 || *name == "ok")
        .map(|(name, n)| format!("{} {}", count(n), name.replace('_', " ")))
        .collect();
    let text = format!(
        "{} scheduled = {}",
        count(arrivals.scheduled),
        terms.join(" + ")
    );
    let tone = match (arrivals.balances(), arrivals.ok == arrivals.scheduled) {
        (false, _) => Tone::Bad,
        (true, false) => Tone::Doubtful,
        (true, true) => Tone::Plain,
    };
    page.entry("arrivals", tone, &text)?;
    if report.interrupted
        && let Some(planned) = report.planned
    {
        let text = format!("{} were planned for the whole run", count(planned));
        page.entry("", Tone::Doubtful, &text)?;
    }
    for (outcome, classes) in &report.outcomes {
        let classes: Vec<String> = classes
            .iter()
            .map(|(class, n)| format!("{class} {}", count(*n)))
            .collect();
        let text = format!("{}: {}", outcome.replace('_', " "), classes.join(", "));
        page.entry("", Tone::Doubtful, &text)?;
    }
    sessions(report, page)
}

/// What became of the sessions, where there are any.
fn sessions<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(sessions) = &report.sessions else {
        return Ok(());
    };
    let mut text = format!(
        "{} started = {} finished + {} ended early + {} cut off by the end",
        count(sessions.started),
        count(sessions.finished),
        count(sessions.ended_early),
        count(sessions.unfinished)
    );
    if let Some(steps) = sessions.steps {
        text.push_str(&format!("; {steps:.2} requests each"));
    }
    if let Some(planned) = sessions.planned.filter(|_| report.interrupted) {
        text.push_str(&format!("; {} were planned", count(planned)));
    }
    let tone = match sessions.ended_early {
        0 => Tone::Plain,
        _ => Tone::Doubtful,
    };
    page.entry("sessions", tone, &text)
}

/// The backlog, what was left over, what the generator cost, and what the reader should know.
pub(super) fn aftermath<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    page.blank()?;
    backlog(report, page)?;
    health(report, page)?;
    if !report.counts.is_empty() {
        let counts: Vec<String> = report
            .counts
            .iter()
            .map(|(name, n)| format!("{} {}", name.replace('_', " "), count(*n)))
            .collect();
        page.entry(
            "counts",
            Tone::Plain,
            &format!("{} in the steady phase", counts.join(", ")),
        )?;
    }
    observations(report, page)?;
    generator(report, page)?;
    machine(report, page)?;
    for (index, warning) in report.validity.warnings().enumerate() {
        let label = if index == 0 { "warnings" } else { "" };
        let waived = if warning.waived { " (waived)" } else { "" };
        let text = format!("{}{waived}: {}", warning.name, warning.why);
        page.entry(label, Tone::Doubtful, &text)?;
    }
    Ok(())
}

/// What the target said of itself.
fn observations<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    if report.observations.is_empty() {
        return Ok(());
    }
    let said = report.observations.iter().map(|(name, value)| {
        let shown = match name.ends_with("_rate") {
            true => percent(*value),
            false => value.to_string(),
        };
        format!("{} {shown}", name.replace('_', " "))
    });
    let text = said.collect::<Vec<_>>().join(", ");
    page.entry(
        "target's",
        Tone::Plain,
        &format!("{text} in the steady phase"),
    )
}

fn backlog<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    match &report.backlog {
        Some(backlog) if backlog.grows => {
            let text = format!(
                "grew by {:.2} requests per second: more came than was served, and percentiles depend on how long you look",
                backlog.per_second
            );
            page.entry("backlog", Tone::Bad, &text)
        }
        Some(_) => page.entry("backlog", Tone::Plain, "no significant growth"),
        None if report.sessions.is_some() => page.entry(
            "backlog",
            Tone::Plain,
            "not judged: sessions that accumulate would look the same",
        ),
        None => page.entry(
            "backlog",
            Tone::Plain,
            "unknown: some twelfth of the steady phase has no arrivals",
        ),
    }
}

fn health<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(health) = &report.health else {
        return Ok(());
    };
    let mut found = Vec::new();
    if health.abandoned > 0 {
        found.push(match health.abandoned {
            1 => "1 arrival was unfinished after the drain".to_owned(),
            n => format!("{} arrivals were unfinished after the drain", count(n)),
        });
    }
    if let Some(left) = health.descriptors_left.filter(|left| *left > 0) {
        found.push(format!("{left} more file descriptors are open than before"));
    }
    if let Some(error) = &health.check_error {
        found.push(format!("the service's own check failed: {error}"));
    }
    let text = match (found.is_empty(), health.check) {
        (true, Some(true)) => {
            "nothing was left over after the drain, and the service's own check passed".to_owned()
        }
        (true, _) => "nothing was left over after the drain".to_owned(),
        (false, _) => found.join("; "),
    };
    let tone = match (
        health.healthy,
        health.abandoned > 0 || health.check == Some(false),
    ) {
        (true, _) => Tone::Plain,
        (false, true) => Tone::Bad,
        (false, false) => Tone::Doubtful,
    };
    page.entry("health", tone, &text)
}

fn generator<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(generator) = &report.generator else {
        return Ok(());
    };
    let whose = match generator.own_threads {
        true => "its own threads",
        false => "the whole process",
    };
    let cores = match generator.cores {
        1 => "1 core".to_owned(),
        n => format!("{n} cores"),
    };
    let mut parts = Vec::new();
    if let Some(busy) = generator.busy {
        parts.push(format!("{whose} kept {cores} {} busy", percent(busy)));
    }
    if let Some(cpu) = generator.cpu_seconds {
        let waited = match generator.spun_seconds {
            spun if spun > 0.0 => format!(" and {} of spinning", Ns(spun * 1e9)),
            _ => String::new(),
        };
        let worked = (cpu - generator.spun_seconds).max(0.0);
        parts.push(format!(
            "{} of CPU time{waited}",
            Ns((worked * 1e9).round())
        ));
    }
    if let Some(precision) = &generator.precision {
        parts.push(format!("precision {precision}"));
        parts.push(format!("at most {} late", Ns(generator.max_lag_ns as f64)));
    }
    page.entry("generator", Tone::Plain, &parts.join(", "))
}

fn machine<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(environment) = &report.environment else {
        return Ok(());
    };
    let mut parts = vec![format!(
        "{} {}",
        environment.os,
        environment.kernel.as_deref().unwrap_or_default()
    )];
    parts.push(match environment.cores {
        1 => "1 core".to_owned(),
        n => format!("{n} cores"),
    });
    if let Some(clock) = &environment.clock_source {
        parts.push(format!("clock {clock}"));
    }
    if let Some(load) = environment.load_average {
        parts.push(format!("load average {load:.2}"));
    }
    if let Some(steal) = environment.steal.filter(|steal| *steal > 0.0) {
        parts.push(format!("{} stolen by the hypervisor", percent(steal)));
    }
    page.entry("machine", Tone::Plain, &parts.join(", "))
}
