//! Steps that are named, timed and counted.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Why a step failed, for the reader of the summary.
pub(crate) type Outcome = Result<(), String>;

/// What has been run so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    name: String,
    took: Duration,
    outcome: Outcome,
}

impl Steps {
    /// Runs a step; one that fails does not keep the next from being tried.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Outcome) {
        say(format_args!("\n==> {name}"));
        let begun = Instant::now();
        let outcome = step();
        let took = begun.elapsed();
        if let Err(why) = &outcome {
            say(format_args!("==> {name} FAILED: {why}"));
        }
        self.done.push(Step {
            name: name.to_owned(),
            took,
            outcome,
        });
    }

    /// Prints all steps with their times, and, last, how many passed.
    pub(crate) fn summary(&self) -> ExitCode {
        say(format_args!("\nsteps:"));
        for Step {
            name,
            took,
            outcome,
        } in &self.done
        {
            let seconds = took.as_secs_f64();
            match outcome {
                Ok(()) => say(format_args!("  ok    {seconds:>7.1} s  {name}")),
                Err(why) => say(format_args!("  FAIL  {seconds:>7.1} s  {name}: {why}")),
            }
        }
        let failed = self
            .done
            .iter()
            .filter(|step| step.outcome.is_err())
            .count();
        say(format_args!(
            "{} passed, {failed} failed",
            self.done.len() - failed
        ));
        if failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// Prints a line. A reader that has gone away ends the run no sooner.
pub(crate) fn say(line: Arguments<'_>) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Runs a command with its output streaming by and nothing to read, until it ends or is out of time.
/// Any status among `accepted` passes.
pub(crate) fn watch(command: &mut Command, accepted: &[i32], limit: Duration) -> Outcome {
    let shown = shown(command);
    say(format_args!("$ {shown}"));
    let child = command
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("{shown}: {error}"))?;
    let status = wait(child, limit).map_err(|error| format!("{shown}: {error}"))?;
    match status.code() {
        Some(code) if accepted.contains(&code) => Ok(()),
        _ => Err(format!("{shown}: {status}")),
    }
}

fn wait(mut child: Child, limit: Duration) -> io::Result<std::process::ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("killed after {limit:?}"),
            ));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_status_passes_only_where_it_is_accepted() {
        assert!(watch(&mut shell("exit 0"), &[0], LIMIT).is_ok());
        assert!(watch(&mut shell("exit 3"), &[0, 3], LIMIT).is_ok());
        let why = watch(&mut shell("exit 7"), &[0, 3], LIMIT).unwrap_err();
        assert!(
            why.contains("exit 7") && why.contains("exit status: 7"),
            "{why}"
        );
    }

    #[test]
    fn a_command_that_is_not_there_is_named() {
        let why = watch(&mut Command::new("no-such-program"), &[0], LIMIT).unwrap_err();
        assert!(why.starts_with("no-such-program: "), "{why}");
    }

    #[test]
    fn a_command_out_of_time_is_ended() {
        let begun = Instant::now();
        let why = watch(&mut shell("exec sleep 60"), &[0], Duration::ZERO).unwrap_err();
        assert!(why.contains("killed after 0ns"), "{why}");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn one_failed_step_fails_the_run_and_the_others_are_still_made() {
        let mut steps = Steps::default();
        steps.run("first", || Err("no".to_owned()));
        steps.run("second", || Ok(()));
        assert_eq!(
            steps
                .done
                .iter()
                .filter(|step| step.outcome.is_ok())
                .count(),
            1
        );
        assert_eq!(
            format!("{:?}", steps.summary()),
            format!("{:?}", ExitCode::FAILURE)
        );
    }
}
