//! Examples are run, not only compiled.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::cargo::{Executable, root};
use crate::steps::{Outcome, say, watch};

/// The folder of the crate whose programs and examples are run.
const FOLDER: &str = "examples";
const SMOKE_LIMIT: Duration = Duration::from_secs(120);
const FULL_LIMIT: Duration = Duration::from_secs(1800);

/// How an example is run. One that is not in this table gets `--quick` and has to exit with 0.
const RUNS: &[(&str, Run)] = &[
    ("which_queue", Run::Full),
    (
        "loadgen",
        Run::AgainstServer {
            arguments: "http {url} --rate 500 --arrivals poisson --connections 8 --ramp-up 0s --warm-up 1s --steady 3s \
                    --cooldown 0s --quiet",
            // On a busy machine a run may be invalid (3) or inconclusive (5), and say so: that is no
            // fault of the program.
            accepted: &[0, 3, 5],
        },
    ),
];

#[derive(Debug, Clone, Copy)]
enum Run {
    /// `--quick` for a short run, nothing for one at full length.
    Quick,
    /// At full length alone: it needs what only a full run installs.
    Full,
    /// Against a scripted server of its own, whose address is put for `{url}`.
    AgainstServer {
        arguments: &'static str,
        accepted: &'static [i32],
    },
}

/// An example to be run.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) name: String,
    executable: Executable,
    run: Run,
}

/// Every program and example of the examples crate.
pub(crate) fn of(built: &[Executable]) -> Vec<Example> {
    let own = built
        .iter()
        .filter(|executable| executable.package == FOLDER);
    own.map(|executable| {
        let known = RUNS.iter().find(|(name, _)| *name == executable.name);
        Example {
            name: executable.name.clone(),
            executable: executable.clone(),
            run: known.map_or(Run::Quick, |(_, run)| *run),
        }
    })
    .collect()
}

impl Example {
    /// A short run, to see that it works.
    pub(crate) fn smoke(&self, built: &[Executable]) -> Outcome {
        match self.run {
            Run::Quick => watch(self.command().arg("--quick"), &[0], SMOKE_LIMIT),
            Run::Full => {
                say(format_args!("left to cargo testbed --full"));
                Ok(())
            }
            Run::AgainstServer { .. } => self.against_server(built, SMOKE_LIMIT),
        }
    }

    /// As a reader would run it.
    pub(crate) fn full(&self, built: &[Executable]) -> Outcome {
        match self.run {
            Run::Quick | Run::Full => watch(&mut self.command(), &[0], FULL_LIMIT),
            Run::AgainstServer { .. } => self.against_server(built, FULL_LIMIT),
        }
    }

    fn against_server(&self, built: &[Executable], limit: Duration) -> Outcome {
        let Run::AgainstServer {
            arguments,
            accepted,
        } = self.run
        else {
            return Ok(());
        };
        let server = Server::start(built)?;
        let arguments = arguments
            .split_whitespace()
            .map(|word| word.replace("{url}", &server.url));
        watch(self.command().args(arguments), accepted, limit)
    }

    fn command(&self) -> Command {
        program(&self.executable.path)
    }
}

fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.current_dir(root());
    command
}

/// What wrk gets out of the scripted server: it must be more than any generator asks of it.
pub(crate) fn under_wrk(built: &[Executable]) -> Outcome {
    let server = Server::start(built)?;
    let arguments = ["-t1", "-c50", "-d5s", "--latency", server.url.as_str()];
    watch(Command::new("wrk").args(arguments), &[0], SMOKE_LIMIT)
}

/// A scripted server in a process of its own.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(built: &[Executable]) -> Result<Self, String> {
        let known = built
            .iter()
            .find(|executable| executable.name == "testbed-http");
        let path = &known.ok_or("testbed-http has not been built")?.path;
        let mut child = program(path)
            // Should this process be killed, the server ends all the same.
            .args(["--for", "30m"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let mut url = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out)
                .read_line(&mut url)
                .map_err(|error| error.to_string())?;
        }
        let server = Self {
            child,
            url: url.trim().to_owned(),
        };
        if server.url.is_empty() {
            return Err("testbed-http ended before it listened".to_owned());
        }
        say(format_args!("testbed-http listens at {}", server.url));
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(package: &str, name: &str) -> Executable {
        Executable {
            package: package.to_owned(),
            name: name.to_owned(),
            path: "/x".into(),
        }
    }

    #[test]
    fn every_program_of_the_examples_is_run_and_no_other() {
        let all = [
            built("examples", "quickstart"),
            built("testbed", "testbed-http"),
            built("examples", "loadgen"),
        ];
        let found = of(&all);
        assert_eq!(
            found
                .iter()
                .map(|example| &example.name)
                .collect::<Vec<_>>(),
            ["quickstart", "loadgen"]
        );
        assert!(matches!(found[0].run, Run::Quick));
        assert!(matches!(found[1].run, Run::AgainstServer { .. }));
    }

    #[test]
    fn without_its_server_a_run_fails_by_name() {
        let why = Server::start(&[]).err().unwrap();
        assert!(why.contains("testbed-http"), "{why}");
    }
}
