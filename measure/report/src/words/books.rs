//! Rates, arrivals, and what the run cost.

use super::units::{Ns, count, length, percent, rate};
use super::{Said, Tone};
use crate::Report;
use crate::schema::Interval;

/// How far answers may be from the length that was asked for.
const AS_ASKED: f64 = 0.05;

pub(crate) fn rates(report: &Report) -> String {
    let or_none = |per_second: Option<f64>| per_second.map_or("none".to_owned(), rate);
    let asked = report
        .asked_rate
        .map(|asked| format!("asked {}, ", rate(asked)));
    format!(
        "{}offered {}, achieved {}",
        asked.unwrap_or_default(),
        or_none(report.offered_rate),
        or_none(report.achieved_rate)
    )
}

/// The identity of all arrivals.
pub(crate) fn arrivals(report: &Report) -> Said {
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
    Said::new(tone, text)
}

/// How many arrivals there would have been, of a run that was stopped.
pub(crate) fn planned(report: &Report) -> Option<String> {
    let planned = report.planned.filter(|_| report.interrupted)?;
    Some(format!("{} were planned for the whole run", count(planned)))
}

/// The classes of what was not served, a line for each outcome.
pub(crate) fn classes(report: &Report) -> impl Iterator<Item = String> {
    report.outcomes.iter().map(|(outcome, classes)| {
        let classes: Vec<String> = classes
            .iter()
            .map(|(class, n)| format!("{class} {}", count(*n)))
            .collect();
        format!("{}: {}", outcome.replace('_', " "), classes.join(", "))
    })
}

/// What became of the sessions, where there are any.
pub(crate) fn sessions(report: &Report) -> Option<Said> {
    let sessions = report.sessions.as_ref()?;
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
    Some(Said::new(tone, text))
}

/// Named counts, summed over arrivals.
pub(crate) fn counts(report: &Report) -> Option<String> {
    let named = |(name, n): (&String, &u64)| format!("{} {}", name.replace('_', " "), count(*n));
    let counts: Vec<String> = report.counts.iter().map(named).collect();
    (!counts.is_empty()).then(|| format!("{} in the steady phase", counts.join(", ")))
}

/// How long answers became beside how long they were to be, and why they ended: of language models.
pub(crate) fn lengths(report: &Report) -> Option<Said> {
    let of = |name: &str| report.counts.get(name).copied().filter(|n| *n > 0);
    let (came, asked) = (of("output_tokens")?, of("asked_output_tokens")?);
    let ratio = came as f64 / asked as f64;
    let mut text = format!(
        "{} tokens of {} that were asked for, {}",
        count(came),
        count(asked),
        percent(ratio)
    );
    let ended = report.counts.iter().filter_map(|(name, n)| {
        let reason = name.strip_prefix("finish_")?.replace('_', " ");
        Some(format!("{reason} {}", count(*n)))
    });
    let ended: Vec<String> = ended.collect();
    if !ended.is_empty() {
        text.push_str(&format!("; ended by: {}", ended.join(", ")));
    }
    if (ratio - 1.0).abs() <= AS_ASKED {
        return Some(Said::plain(text));
    }
    text.push_str("; that is another load than was asked for: have the server ignore ends of its own, or ask for what it gives");
    Some(Said::new(Tone::Doubtful, text))
}

/// What the target said of itself.
pub(crate) fn observations(report: &Report) -> Option<String> {
    let said = report.observations.iter().map(|(name, value)| {
        let shown = match name.ends_with("_rate") {
            true => percent(*value),
            // Whole numbers are counts, and others not exact to the last digit.
            false if value.fract() == 0.0 => value.to_string(),
            false => format!("{value:.3}"),
        };
        format!("{} {shown}", name.replace('_', " "))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| format!("{} in the steady phase", said.join(", ")))
}

/// What happened to the target, and when first.
pub(crate) fn events(report: &Report) -> Option<String> {
    let mut kinds: Vec<(&str, u64, u64)> = Vec::new();
    for event in &report.events {
        match kinds.iter_mut().find(|(what, ..)| *what == event.what) {
            Some((_, times, _)) => *times += 1,
            None => kinds.push((&event.what, 1, event.at_ns)),
        }
    }
    let said = kinds.into_iter().map(|(what, times, first)| {
        let (what, at) = (what.replace('_', " "), first as f64 / 1e9);
        match times {
            1 => format!("{what} at {at:.1} s"),
            times => format!("{what} {times} times, first at {at:.1} s"),
        }
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// Whether more came than was served.
pub(crate) fn backlog(report: &Report) -> Said {
    match &report.backlog {
        Some(backlog) if backlog.grows => Said::new(
            Tone::Bad,
            format!(
                "grew by {:.2} requests per second: more came than was served, and percentiles depend on how long you look",
                backlog.per_second
            ),
        ),
        Some(_) => Said::plain("no significant growth"),
        None if report.sessions.is_some() => {
            Said::plain("not judged: sessions that accumulate would look the same")
        }
        None if report.merged.is_some() => Said::plain("not judged: the report is merged"),
        None => Said::plain("unknown: some twelfth of the steady phase has no arrivals"),
    }
}

/// What was found after the drain.
pub(crate) fn health(report: &Report) -> Option<Said> {
    let health = report.health.as_ref()?;
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
        found.extend(last_served(report));
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
    Some(Said::new(tone, text))
}

/// Until when anything was served, of a run that went on without.
fn last_served(report: &Report) -> Option<String> {
    let is_served = |interval: &&Interval| interval.ended.ok > 0;
    let is_lost = |interval: &&Interval| interval.errors() > 0;
    let lost = report.timeline.iter().rev().find(is_lost)?;
    match report.timeline.iter().rev().find(is_served) {
        None => Some("nothing was served".to_owned()),
        Some(last) => (last.to_ns < lost.to_ns)
            .then(|| format!("nothing was served after {}", length(last.to_ns))),
    }
}

/// What the generator itself cost.
pub(crate) fn generator(report: &Report) -> Option<String> {
    let generator = report.generator.as_ref()?;
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
    Some(parts.join(", "))
}

/// The machine of the generator.
pub(crate) fn machine(report: &Report) -> Option<String> {
    let environment = report.environment.as_ref()?;
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
    Some(parts.join(", "))
}

/// A failed check that the reader should know of.
pub(crate) fn warning(check: &crate::schema::Check) -> String {
    let waived = if check.waived { " (waived)" } else { "" };
    format!("{}{waived}: {}", check.name, check.why)
}
