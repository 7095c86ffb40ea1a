//! `loadgen report`: what was written, shown, merged and compared.

mod files;
mod logs;

use crate::exit::{Failure, Status};
use crate::output::{self, is_stdout, write_to};
use clap::Args;
use files::{Files, Input};
use openloop_report::hlog::LogUnit;
use openloop_report::{
    Comparison, Excerpt, MergeError, Report, write_summaries, write_summaries_markdown,
};
use openloop_sched::parse_duration;
use serde_json::json;
use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What is read, and what becomes of it.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Reports (JSON, or the pages that hold one) or interval logs of HdrHistogram; - is the standard input
    #[arg(value_name = "FILE", required_unless_present = "compare")]
    files: Vec<PathBuf>,

    /// Compares two reports: A is what was, B is what is
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["files", "merge", "window", "tag"])]
    compare: Option<Vec<PathBuf>>,

    /// The figure that decides a comparison, named before its data are looked at: the quantile of a latency, such as
    /// "response p99"
    #[arg(
        long,
        value_name = "FIGURE",
        requires = "compare",
        default_value = "response p50"
    )]
    by: String,

    /// The files are shards of one run, and all must be there; without it, they are runs one after another
    #[arg(long)]
    merge: bool,

    /// Only this part, in time since the start of the run: the whole windows of a report, or intervals of a log, that
    /// lie in it: 60s..120s
    #[arg(long, value_name = "FROM..TO", value_parser = window)]
    window: Option<Range<u64>>,

    /// Of logs, only this tag; "" is that of lines without one
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,

    /// In what the values of logs are: ns, us, ms or s [default: what the log says, else ns]
    #[arg(long, value_name = "UNIT")]
    unit: Option<LogUnit>,

    /// Writes JSON to this file, instead of text: the report or, of logs, the latency of each tag; - is the standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Writes a page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Writes Markdown to this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Writes the timeline of a report as CSV to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

pub(crate) const HELP: &str = "\
Exit status, of reports as their run had it, of several as one run of all would have it:
  0    the objective is kept or, without one, the run is valid; of --window, and of logs: done
  1    the objective is not kept, or cannot be; --compare: the figure that decides is worse
  2    the command line makes no sense, a file cannot be read, or --merge: shards are missing or not of one run
  3    a run may not be believed; of logs: lines could not be read, and are missing
  4    the target could not be reached any more after a run
  5    the data are too few to judge the objective, or runs disagree; --compare: they cannot be compared
  130  a run was interrupted";

/// `60s..120s`.
fn window(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text
        .split_once("..")
        .ok_or("write FROM..TO, such as 60s..120s")?;
    let ns = |text: &str| {
        let time = parse_duration(text).map_err(|error| error.to_string())?;
        u64::try_from(time.as_nanos()).map_err(|_| format!("{text} is too long"))
    };
    let (from, to) = (ns(from)?, ns(to)?);
    match from < to {
        true => Ok(from..to),
        false => Err("it ends before it begins".to_owned()),
    }
}

/// Reads what is to be read, and writes what is asked for.
pub(crate) fn run(arguments: &ReportArgs) -> Result<Status, Failure> {
    arguments.check()?;
    if let Some(both) = &arguments.compare {
        return arguments.compare(both);
    }
    match files::read(&arguments.files)? {
        Files::Logs(logs) => logs::run(arguments, logs),
        Files::Reports(reports) => arguments.show(&reports),
    }
}

impl ReportArgs {
    fn outputs(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.json, &self.html, &self.markdown, &self.csv];
        files.into_iter().flatten().map(PathBuf::as_path)
    }

    fn has_text(&self) -> bool {
        !self.outputs().any(is_stdout)
    }

    /// Whether everything can be written, and nothing over what is read.
    fn check(&self) -> Result<(), Failure> {
        let inputs: Vec<&PathBuf> = self
            .files
            .iter()
            .chain(self.compare.iter().flatten())
            .collect();
        for (index, file) in inputs.iter().enumerate() {
            // Compared, a run shows no difference from itself.
            let is_again = |other: &&PathBuf| same_file(file, other);
            if self.compare.is_none() && inputs[..index].iter().any(is_again) {
                let file = file.display();
                return Err(Failure::Usage(format!(
                    "{file} is given twice, and would count twice: name it once"
                )));
            }
        }
        for file in self.outputs().filter(|file| !is_stdout(file)) {
            if inputs.iter().any(|input| same_file(input, file)) {
                let file = file.display();
                return Err(Failure::Usage(format!(
                    "{file} is read and would be written over: name another file"
                )));
            }
        }
        output::writable(self.outputs()).map_err(Failure::Usage)
    }

    /// Refuses flags that say nothing of what is read.
    fn refuse(&self, flags: &[(&str, bool)], why: &str) -> Result<(), Failure> {
        match flags.iter().find(|(_, is_there)| *is_there) {
            Some((flag, _)) => Err(Failure::Usage(format!("{flag}: {why}"))),
            None => Ok(()),
        }
    }

    fn show(&self, reports: &[Report]) -> Result<Status, Failure> {
        self.refuse(
            &[
                ("--tag", self.tag.is_some()),
                ("--unit", self.unit.is_some()),
            ],
            "reports have neither tags nor units, interval logs have",
        )?;
        let merged = match (reports, self.merge) {
            ([report], false) => report.clone(),
            (_, false) => Report::merge(reports).map_err(|error| match error {
                MergeError::IsAShard(_) => Failure::Usage(format!("{error}: give --merge")),
                error => refused(error, &self.files, reports),
            })?,
            (_, true) => merged(&self.files, reports)?,
        };
        if let Some(window) = &self.window {
            self.refuse(
                &[
                    ("--html", self.html.is_some()),
                    ("--csv", self.csv.is_some()),
                ],
                "part of a report has neither a page nor a timeline: leave out --window",
            )?;
            let excerpt = merged.excerpt(window.clone());
            let excerpt = excerpt.map_err(|error| refused(error, &self.files, reports))?;
            return self.show_part(&excerpt, window);
        }
        self.write(&self.json, |out| merged.write_json(out))?;
        self.write(&self.html, |out| merged.write_html(out))?;
        self.write(&self.markdown, |out| merged.write_markdown(out))?;
        self.write(&self.csv, |out| merged.write_csv(out))?;
        self.text(|out| merged.write_text(out, &output::style()))?;
        Ok(Status::of_report(&merged))
    }

    fn show_part(&self, excerpt: &Excerpt, window: &Range<u64>) -> Result<Status, Failure> {
        let (from, to) = (excerpt.from_ns, excerpt.to_ns);
        if (from, to) != (window.start, window.end) {
            output::complain(format_args!(
                "the whole windows there are from {} s to {} s",
                from as f64 / 1e9,
                to as f64 / 1e9
            ));
        }
        let json = json!({ "from_ns": from, "to_ns": to, "latency": excerpt.latencies });
        self.write(&self.json, |out| writeln!(out, "{json:#}"))?;
        self.write(&self.markdown, |out| {
            write_summaries_markdown(&excerpt.latencies, "", out)
        })?;
        self.text(|out| write_summaries(&excerpt.latencies, "", out, &output::style()))
    }

    fn compare(&self, both: &[PathBuf]) -> Result<Status, Failure> {
        self.refuse(
            &[
                ("--json", self.json.is_some()),
                ("--csv", self.csv.is_some()),
            ],
            "a comparison is text, Markdown or a page",
        )?;
        let mut reports = Vec::new();
        for file in both {
            match files::read_one(file)? {
                Input::Report(report) => reports.push(*report),
                Input::Log(_) => {
                    let file = file.display();
                    return Err(Failure::Usage(format!(
                        "{file} is an interval log: only reports have what a comparison needs"
                    )));
                }
            }
        }
        let [a, b] = reports.as_slice() else {
            return Err(Failure::usage("--compare takes two files"));
        };
        let comparison = Comparison::new(a, b).map_err(|error| refused(error, both, &reports))?;
        let comparison = comparison.by(&self.by).map_err(Failure::usage)?;
        self.write(&self.html, |out| comparison.write_html(out))?;
        self.write(&self.markdown, |out| comparison.write_markdown(out))?;
        self.text(|out| comparison.write_text(out, &output::style()))?;
        Ok(match comparison.is_worse() {
            Some(true) => Status::Missed,
            Some(false) => Status::Pass,
            None if !(a.validity.valid && b.validity.valid) => Status::Invalid,
            None => Status::Inconclusive,
        })
    }

    fn write(
        &self,
        file: &Option<PathBuf>,
        write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let written = file.as_ref().map(|file| write_to(file, write));
        written.unwrap_or(Ok(())).map_err(Failure::Machine)
    }

    fn text(
        &self,
        write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
    ) -> Result<Status, Failure> {
        if self.has_text() {
            write_to(Path::new("-"), write).map_err(Failure::Machine)?;
        }
        Ok(Status::Pass)
    }
}

/// The shards of one run as the run.
fn merged(files: &[PathBuf], reports: &[Report]) -> Result<Report, Failure> {
    let mut all = files.iter().zip(reports);
    match Report::merge_shards(reports) {
        Ok(merged) => Ok(merged),
        Err(error @ MergeError::NotAShard) => Err(match all.find(|(_, one)| one.shard.is_none()) {
            Some((file, _)) => Failure::Usage(format!("{}: {error}", file.display())),
            None => Failure::usage(error),
        }),
        Err(error) => Err(refused(error, files, reports)),
    }
}

/// Why reports cannot be taken together, with the name of the file whose histograms cannot be read, if that is why.
fn refused(error: impl Display, files: &[PathBuf], reports: &[Report]) -> Failure {
    let is_damaged = |report: &Report| Report::merge(std::slice::from_ref(report)).is_err();
    let damaged = files
        .iter()
        .zip(reports)
        .find(|(_, report)| is_damaged(report));
    match damaged {
        Some((file, _)) => Failure::Usage(format!("{}: {error}", file.display())),
        None => Failure::usage(error),
    }
}

/// Whether two names lead to one file that is there.
fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_two_ends_in_order() {
        assert_eq!(window("60s..120s"), Ok(60_000_000_000..120_000_000_000));
        assert_eq!(window("0s..1ms"), Ok(0..1_000_000));
        for text in ["60s", "60s..60s", "2s..1s", "60..120", "a..b"] {
            assert!(window(text).is_err(), "{text}");
        }
    }
}
