//! Interval logs, of openloop and of other tools.

use super::ReportArgs;
use super::files::Log;
use crate::exit::{Failure, Status};
use crate::output;
use openloop_report::hlog::{LogReader, LogSummary};
use openloop_report::schema::Summary;
use openloop_report::{write_summaries, write_summaries_markdown};
use serde_json::json;
use std::collections::BTreeMap;

/// How many broken lines of a file are told one by one.
const TOLD: usize = 10;

/// What the lines without a tag are called.
const UNTAGGED: &str = "(no tag)";

/// All logs as one, by tag.
pub(super) fn run(arguments: &ReportArgs, logs: Vec<Log>) -> Result<Status, Failure> {
    arguments.refuse(
        &[
            ("--html", arguments.html.is_some()),
            ("--csv", arguments.csv.is_some()),
            ("--merge", arguments.merge),
        ],
        "interval logs are always merged, and are shown as text, Markdown or JSON",
    )?;
    let mut summary = LogSummary::new();
    if let Some(window) = &arguments.window {
        summary = summary.window(window.clone());
    }
    if let Some(unit) = arguments.unit {
        summary = summary.unit(unit);
    }
    let mut broken = 0;
    for log in logs {
        broken += add(&mut summary, &log)?;
    }
    if summary.cut() > 0 {
        output::complain(format_args!(
            "{} intervals lie only in part in the window, and are left out",
            summary.cut()
        ));
    }
    let summaries = chosen(arguments, &summary)?;
    let json = json!({ "tags": summaries });
    arguments.write(&arguments.json, |out| writeln!(out, "{json:#}"))?;
    arguments.write(&arguments.markdown, |out| {
        write_summaries_markdown(&summaries, UNTAGGED, out)
    })?;
    arguments.text(|out| write_summaries(&summaries, UNTAGGED, out, &output::style()))?;
    Ok(match broken {
        0 => Status::Pass,
        _ => Status::Invalid,
    })
}

/// Adds every interval of a log that can be read; returns how many lines cannot.
fn add(summary: &mut LogSummary, log: &Log) -> Result<usize, Failure> {
    let (mut broken, mut intervals) = (0, 0);
    for line in LogReader::new(log.text.as_slice()) {
        match line {
            Ok(interval) => {
                intervals += 1;
                let added = summary.add(&interval);
                added.map_err(|error| Failure::Usage(format!("{}: {error}", log.name)))?;
            }
            Err(error) => {
                broken += 1;
                if broken <= TOLD {
                    output::complain(format_args!("{}: {error}", log.name));
                }
            }
        }
    }
    if broken > TOLD {
        output::complain(format_args!(
            "{}: {} more lines cannot be read",
            log.name,
            broken - TOLD
        ));
    }
    match intervals {
        0 => Err(Failure::Usage(format!(
            "{}: there is no interval in it: it is neither a report nor an interval log",
            log.name
        ))),
        _ => Ok(broken),
    }
}

/// The tags that are asked for.
fn chosen(
    arguments: &ReportArgs,
    summary: &LogSummary,
) -> Result<BTreeMap<String, Summary>, Failure> {
    let mut all = summary.summaries();
    let Some(tag) = &arguments.tag else {
        return match all.is_empty() {
            true => Err(Failure::usage("no interval lies in the window")),
            false => Ok(all),
        };
    };
    match all.remove_entry(tag) {
        Some(found) => Ok(BTreeMap::from([found])),
        None => {
            let known: Vec<_> = all.keys().map(|tag| format!("\"{tag}\"")).collect();
            Err(Failure::Usage(format!(
                "there is no tag \"{tag}\" there; there are: {}",
                known.join(", ")
            )))
        }
    }
}
