//! Files of any of the kinds that are read.

use crate::exit::Failure;
use crate::output;
use openloop_report::{Report, schema};
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a file is: its content tells, whatever its name.
pub(super) enum Input {
    Report(Box<Report>),
    Log(Log),
}

/// An interval log, and what it is called.
pub(super) struct Log {
    pub(super) name: String,
    pub(super) text: Vec<u8>,
}

/// What all files are.
pub(super) enum Files {
    Reports(Vec<Report>),
    Logs(Vec<Log>),
}

/// Reads all files, which are to be of one kind.
pub(super) fn read(files: &[PathBuf]) -> Result<Files, Failure> {
    let (mut reports, mut logs) = (Vec::new(), Vec::new());
    for file in files {
        match read_one(file)? {
            Input::Report(report) => reports.push(*report),
            Input::Log(log) => logs.push(log),
        }
    }
    match (reports.is_empty(), logs.is_empty()) {
        (false, false) => Err(Failure::usage(
            "reports and interval logs cannot be merged: give files of one kind",
        )),
        (false, true) => Ok(Files::Reports(reports)),
        (true, _) => Ok(Files::Logs(logs)),
    }
}

pub(super) fn read_one(file: &Path) -> Result<Input, Failure> {
    let name = file.display().to_string();
    let unreadable = |why: String| Failure::Usage(format!("{name}: {why}"));
    let mut text = Vec::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin().lock().read_to_end(&mut text),
        false => std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut text)),
    };
    read.map_err(|error| unreadable(format!("it cannot be read: {error}")))?;
    // Some editors begin a file with a mark of its encoding.
    let text = match text.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => text,
    };
    if text.starts_with(b"\x1f\x8b") {
        return Err(unreadable("it is compressed: unpack it first".to_owned()));
    }
    if text.contains(&0) {
        return Err(unreadable(
            "it is no text in UTF-8, and neither a report nor an interval log".to_owned(),
        ));
    }
    let first = text.trim_ascii_start().first().copied();
    let report = match first {
        None => return Err(unreadable("it is empty".to_owned())),
        Some(b'{' | b'[') => Report::read_json(text.as_slice()),
        Some(b'<') => Report::read_html(text.as_slice()),
        Some(_) => return Ok(Input::Log(Log { name, text })),
    };
    if report.is_ok() {
        tell_of_newer(&name, &text);
    }
    report
        .map(|report| Input::Report(Box::new(report)))
        .map_err(|error| unreadable(error.to_string()))
}

/// What a newer release wrote may have more than this one knows.
fn tell_of_newer(name: &str, text: &[u8]) {
    let Ok(schema) = Report::schema_of(text) else {
        return;
    };
    let minor = |version: &str| version.rsplit('.').next()?.parse::<u32>().ok();
    if minor(&schema) > minor(schema::VERSION) {
        output::complain(format_args!(
            "{name} is of the schema \"{schema}\", newer than this release, which knows {}: what it does not know is left out",
            schema::VERSION
        ));
    }
}
