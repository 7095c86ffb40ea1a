//! Files, the terminal, and what goes where.

use crate::cli::OutputArgs;
use openloop_experiment::Run;
use openloop_report::hlog::write_log;
use openloop_report::{ProgressTarget, Report, TextStyle};
use openloop_sched::Shard;
use std::fmt::Arguments;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Columns of the text report where it goes to no terminal.
const WIDTH: usize = 100;
/// The least and the most that a terminal is taken for: tables need some room, and long lines are hard to read.
const WIDTHS: (usize, usize) = (60, 140);

/// One sentence to the user, beside the results.
pub(crate) fn complain(sentence: Arguments<'_>) {
    // Where nobody reads, there is nobody to tell.
    let _ = writeln!(io::stderr(), "loadgen: {sentence}");
}

impl OutputArgs {
    /// How the progress is shown.
    pub(crate) fn progress(&self) -> ProgressTarget {
        match (self.quiet, io::stderr().is_terminal()) {
            (true, _) => ProgressTarget::Hidden,
            (false, true) => ProgressTarget::Terminal,
            (false, false) => ProgressTarget::Lines,
        }
    }

    /// The files to be written.
    fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.json, &self.html, &self.hlog, &self.markdown];
        files.into_iter().flatten().map(PathBuf::as_path)
    }

    /// Puts the index of a shard in the place of `{shard}` in the names of files.
    ///
    /// # Errors
    /// Where all shards would write to the same file.
    pub(crate) fn name_shard(&mut self, shard: Shard) -> Result<(), String> {
        let files = [
            &mut self.json,
            &mut self.html,
            &mut self.hlog,
            &mut self.markdown,
            &mut self.preview_arrivals,
        ];
        for file in files.into_iter().flatten() {
            let name = file.to_string_lossy();
            if !name.contains("{shard}") && shard.count() > 1 && !is_stdout(file) {
                return Err(format!(
                    "every shard would write to {name}: put {{shard}} into the name, which becomes its index"
                ));
            }
            *file = PathBuf::from(name.replace("{shard}", &shard.index().to_string()));
        }
        Ok(())
    }

    /// Whether the text report is printed.
    pub(crate) fn has_text(&self) -> bool {
        !self.quiet && !self.files().any(is_stdout)
    }

    /// Finds out before the run whether the files can be written, and leaves them as they are.
    pub(crate) fn check(&self) -> Result<(), String> {
        writable(self.files())
    }

    /// Writes everything that was asked for, as far as it can: one file that cannot be written costs none of the others,
    /// and then the text is printed whatever was asked for.
    pub(crate) fn write(&self, report: &Report, runs: &[Run]) -> Result<(), String> {
        let to = |file: &Option<PathBuf>, write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
            file.as_ref().map(|file| write_to(file, write))
        };
        let files = [
            to(&self.json, &|out| report.write_json(out)),
            to(&self.html, &|out| report.write_html(out)),
            to(&self.markdown, &|out| report.write_markdown(out)),
        ];
        // A log is of one run: those of the others have a number more in their names.
        let logs = runs.iter().enumerate().map(|(index, run)| {
            let file = self.hlog.as_ref().map(|file| numbered(file, index));
            to(&file, &|out| write_log(run, Some(run.started_at()), out))
        });
        let failures: Vec<String> = files
            .into_iter()
            .chain(logs)
            .flatten()
            .filter_map(Result::err)
            .collect();
        let text = match self.has_text() || !failures.is_empty() {
            true => write_to(Path::new("-"), |out| report.write_text(out, &style())),
            false => Ok(()),
        };
        match failures.is_empty() {
            true => text,
            false => Err(failures.join("; ")),
        }
    }
}

/// The file of the first, `file.2` for the second, and so on; the standard output takes all.
fn numbered(file: &Path, index: usize) -> PathBuf {
    if index == 0 || is_stdout(file) {
        return file.to_owned();
    }
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}", index + 1));
    name.into()
}

/// How text looks where the standard output goes: as wide as the terminal, and in colours unless `NO_COLOR` is set.
pub(crate) fn style() -> TextStyle {
    let terminal = terminal_size::terminal_size_of(io::stdout());
    TextStyle {
        colour: io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        width: terminal.map_or(WIDTH, |(terminal_size::Width(columns), _)| {
            usize::from(columns).clamp(WIDTHS.0, WIDTHS.1)
        }),
    }
}

pub(crate) fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

/// Finds out whether files can be written, and leaves them as they are. Only one of them can be the standard output.
pub(crate) fn writable<'a>(files: impl Iterator<Item = &'a Path>) -> Result<(), String> {
    let (out, files): (Vec<_>, Vec<_>) = files.partition(|file| is_stdout(file));
    if out.len() > 1 {
        return Err(
            "only one thing can be written to the standard output: name files for the others"
                .to_owned(),
        );
    }
    for (index, file) in files.iter().enumerate() {
        if files[..index].contains(file) {
            return Err(format!(
                "{} is to be written twice: name two files",
                file.display()
            ));
        }
        try_to_open(file).map_err(|error| unwritable(file, &error))?;
    }
    Ok(())
}

/// A run that is refused or fails must not leave an empty report behind, so a file that was not there goes again.
fn try_to_open(file: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).open(file) {
        Ok(created) => {
            drop(created);
            std::fs::remove_file(file)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // What exists may be a link to a file that does not.
            let mut options = OpenOptions::new();
            options.append(true).create(true).open(file).map(drop)
        }
        Err(error) => Err(error),
    }
}

/// Writes to a file or, for `-`, to the standard output.
pub(crate) fn write_to(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), String> {
    if file == Path::new("-") {
        let mut out = BufWriter::new(io::stdout().lock());
        return match write(&mut out).and_then(|()| out.flush()) {
            // A reader such as `head` has seen enough.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(format!("the standard output cannot be written: {error}"))
            }
            _ => Ok(()),
        };
    }
    let mut options = OpenOptions::new();
    let opened = options.write(true).create(true).truncate(true).open(file);
    let mut out = BufWriter::new(opened.map_err(|error| unwritable(file, &error))?);
    let written = write(&mut out).and_then(|()| out.flush());
    written.map_err(|error| unwritable(file, &error))
}

fn unwritable(file: &Path, error: &io::Error) -> String {
    format!("{} cannot be written: {error}", file.display())
}
