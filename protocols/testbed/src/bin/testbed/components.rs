//! What the tests need beside cargo, and where it comes from.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::cargo;
use crate::installed::{DASLLAMA, Installed, LLAMA_SERVER, VLLM_CLIENT};
use crate::steps::{Outcome, say, watch};

/// Time to install one component, and one that is compiled for long.
const LIMIT: Duration = Duration::from_secs(900);
const LONG_LIMIT: Duration = Duration::from_secs(3600);

/// A program, how it is called and how it is installed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Component {
    pub(crate) binary: &'static str,
    source: Source,
    when: When,
    /// What it is for, shown where it is missing.
    purpose: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    /// A package of Debian and its kin.
    Apt(&'static str),
    /// One of them that is there where Python can import this module.
    Python(&'static str, &'static str),
    /// A crate with a program.
    Cargo(&'static str),
    /// A script of this crate.
    Script(Installed),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    Full,
}

/// One line for each component: the program, its package, when it is needed, and what for.
const COMPONENTS: &[Component] = &[
    component(
        "postgres",
        Source::Apt("postgresql"),
        When::Always,
        "the PostgreSQL adapter",
    ),
    component(
        "pgbouncer",
        Source::Apt("pgbouncer"),
        When::Always,
        "the PostgreSQL adapter behind a pooler",
    ),
    component(
        "redis-server",
        Source::Apt("redis-server"),
        When::Always,
        "tests and examples of the Redis adapter",
    ),
    component(
        "mpirun",
        Source::Apt("openmpi-bin"),
        When::Always,
        "one run from several processes",
    ),
    component(
        "faketime",
        Source::Apt("faketime"),
        When::Always,
        "a wall clock that is set in the middle of a run",
    ),
    component(
        "ip",
        Source::Apt("iproute2"),
        When::Always,
        "ports that run out, and a network that is gone",
    ),
    component(
        "chronyd",
        Source::Apt("chrony"),
        When::Always,
        "a clock that all shards ask",
    ),
    component(
        "python3",
        Source::Python("python3-venv", "ensurepip"),
        When::Always,
        "servers from PyPI; the JSON schema and interval logs in Python",
    ),
    component(
        "dasllama",
        Source::Script(DASLLAMA),
        When::Always,
        "the inference adapter against a real server",
    ),
    component(
        "wrk",
        Source::Apt("wrk"),
        When::Full,
        "comparisons of HTTP generators",
    ),
    component(
        "h2load",
        Source::Apt("nghttp2-client"),
        When::Full,
        "comparisons of gRPC generators",
    ),
    component(
        "node",
        Source::Apt("nodejs"),
        When::Full,
        "the diagnosis of a real event loop",
    ),
    component(
        "nginx",
        Source::Apt("nginx"),
        When::Full,
        "the diagnosis of a real web server",
    ),
    component(
        "gunicorn",
        Source::Apt("gunicorn"),
        When::Full,
        "the diagnosis of a real pool of workers",
    ),
    component(
        "slurmctld",
        Source::Apt("slurm-wlm"),
        When::Full,
        "one run from the tasks of a job",
    ),
    component(
        "munged",
        Source::Apt("munge"),
        When::Full,
        "the trust between the parts of Slurm",
    ),
    component(
        "chromium",
        Source::Apt("chromium"),
        When::Full,
        "reports in a browser",
    ),
    component(
        "npm",
        Source::Apt("npm"),
        When::Full,
        "interval logs in the JavaScript library",
    ),
    component(
        "c++",
        Source::Apt("g++"),
        When::Full,
        "compiling llama-server",
    ),
    component(
        "cmake",
        Source::Apt("cmake"),
        When::Full,
        "compiling llama-server",
    ),
    component(
        "ninja",
        Source::Apt("ninja-build"),
        When::Full,
        "compiling llama-server",
    ),
    component(
        "llama-server",
        Source::Script(LLAMA_SERVER),
        When::Full,
        "the inference adapter against llama.cpp",
    ),
    component(
        "vllm-client",
        Source::Script(VLLM_CLIENT),
        When::Full,
        "comparisons of generators for language models",
    ),
    component(
        "cargo-hack",
        Source::Cargo("cargo-hack"),
        When::Full,
        "combinations of features",
    ),
];

const fn component(
    binary: &'static str,
    source: Source,
    when: When,
    purpose: &'static str,
) -> Component {
    Component {
        binary,
        source,
        when,
        purpose,
    }
}

/// The components of a run.
pub(crate) fn needed(full: bool) -> impl Iterator<Item = &'static Component> {
    COMPONENTS
        .iter()
        .filter(move |component| full || component.when == When::Always)
}

/// Prints the table.
pub(crate) fn list() {
    for component in COMPONENTS {
        let there = component.find();
        let there = there.map_or("missing".to_owned(), |path| path.display().to_string());
        let Component {
            binary,
            when,
            purpose,
            ..
        } = component;
        say(format_args!(
            "{binary:<12} {when:<8?} {there:<28} {purpose}",
            when = when
        ));
    }
}

impl Component {
    /// Installs it unless it is there.
    pub(crate) fn provide(&self) -> Outcome {
        if let Some(path) = self.find() {
            say(format_args!("{} is there", path.display()));
            return Ok(());
        }
        let installed = match self.source {
            Source::Apt(package) | Source::Python(package, _) => apt(package),
            Source::Cargo(name) => cargo::run(&["install", "--locked", name], &[], LIMIT),
            Source::Script(installed) => by_script(&installed),
        };
        match self.find() {
            Some(_) => Ok(()),
            None => Err(self.missing(installed.err())),
        }
    }

    fn find(&self) -> Option<PathBuf> {
        match self.source {
            Source::Script(installed) => installed.find().ok(),
            Source::Python(_, module) => find(self.binary).filter(|python| {
                let mut import = Command::new(python);
                import.args(["-c", &format!("import {module}")]);
                import.output().is_ok_and(|output| output.status.success())
            }),
            Source::Apt(_) | Source::Cargo(_) => find(self.binary),
        }
    }

    fn missing(&self, why: Option<String>) -> String {
        let how = match self.source {
            Source::Apt(package) | Source::Python(package, _) => {
                format!("apt-get install {package}")
            }
            Source::Cargo(name) => format!("cargo install --locked {name}"),
            Source::Script(installed) => by_hand(&installed),
        };
        let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
        format!(
            "{} is missing, which is for {}: install it by `{how}`{why}",
            self.binary, self.purpose
        )
    }
}

/// Installs a package as root, or through sudo where that asks no questions.
fn apt(package: &str) -> Outcome {
    // Lists that are out of date, or were never fetched, show as a package that cannot be located.
    let as_root = || {
        Command::new("id")
            .arg("-u")
            .output()
            .is_ok_and(|id| id.stdout.trim_ascii() == b"0")
    };
    let prefix: &[&str] = if as_root() { &[] } else { &["sudo", "-n"] };
    let apt = |arguments: &[&str]| {
        let mut words = prefix.iter().chain(&["apt-get"]).chain(arguments);
        let mut command = Command::new(words.next().unwrap_or(&"apt-get"));
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
        watch(&mut command, &[0], LIMIT)
    };
    let install = ["install", "-y", "--no-install-recommends", package];
    apt(&install).or_else(|_| apt(&["update"]).and_then(|()| apt(&install)))
}

/// Runs a script in a folder of its own, which gets its name once it is whole.
fn by_script(installed: &Installed) -> Outcome {
    let folder = installed.folder().map_err(|error| error.to_string())?;
    let name = format!("{}.partial-{}", installed.name, std::process::id());
    let partial = folder.with_file_name(name);
    let at = |error: std::io::Error| format!("{}: {error}", partial.display());
    std::fs::create_dir_all(&partial).map_err(at)?;
    let mut command = Command::new("sh");
    command.arg(script(installed)).arg(installed.version);
    let outcome = watch(command.current_dir(&partial), &[0], LONG_LIMIT);
    let outcome = outcome.and_then(|()| {
        if installed.find().is_err() {
            // What is there of that name is of no use.
            let _ = std::fs::remove_dir_all(&folder);
        }
        match std::fs::rename(&partial, &folder) {
            // Whoever else installed it meanwhile has the same.
            Err(_) if installed.find().is_ok() => Ok(()),
            renamed => renamed.map_err(at),
        }
    });
    // Gone by its other name, unless something failed.
    let _ = std::fs::remove_dir_all(&partial);
    outcome
}

fn script(installed: &Installed) -> PathBuf {
    let folder = cargo::root().join("protocols/testbed/install");
    folder.join(format!("{}.sh", installed.name))
}

fn by_hand(installed: &Installed) -> String {
    let script = script(installed);
    let folder = installed.folder().unwrap_or_default();
    format!(
        "sh {} {}` in the new folder `{}",
        script.display(),
        installed.version,
        folder.display()
    )
}

/// Where a program is, by `PATH` and the folder into which cargo installs.
fn find(binary: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let cargo_bin = cargo_home.or(home).map(|home| home.join("bin"));
    // Debian keeps servers where only root looks.
    let servers = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    // And PostgreSQL's programs out of the path, by version.
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let versions = versions.flatten().map(|version| version.path().join("bin"));
    let mut folders = std::env::split_paths(&path)
        .chain(cargo_bin)
        .chain(servers)
        .chain(versions);
    folders.find_map(|folder| Some(folder.join(binary)).filter(|file| file.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_that_cannot_be_had_fails_by_name_and_says_what_to_install() {
        let component = component(
            "nginx",
            Source::Apt("nginx"),
            When::Always,
            "keep-alive tests",
        );
        let message = component.missing(Some("apt-get: exit status: 100".to_owned()));
        assert_eq!(
            message,
            "nginx is missing, which is for keep-alive tests: install it by `apt-get install nginx` \
             (apt-get: exit status: 100)"
        );
    }

    #[test]
    fn what_a_script_installs_is_named_with_the_script_and_its_folder() {
        let script = Installed {
            name: "dasllama",
            version: "0.0.0",
            ..DASLLAMA
        };
        let component = component("server", Source::Script(script), When::Always, "tests");
        assert_eq!(component.find(), None);
        let message = component.missing(Some("pip: exit status: 1".to_owned()));
        for part in [
            "protocols/testbed/install/dasllama.sh 0.0.0",
            "dasllama-0.0.0",
            "exit status: 1",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn every_script_is_there() {
        for component in COMPONENTS {
            if let Source::Script(installed) = component.source {
                assert!(script(&installed).is_file(), "{installed:?}");
            }
        }
    }

    #[test]
    fn what_is_there_is_found() {
        assert!(find("sh").is_some());
        assert_eq!(find("no-such-program"), None);
    }

    #[test]
    fn a_full_run_needs_all_and_another_one_no_more_than_that() {
        assert_eq!(needed(true).count(), COMPONENTS.len());
        assert!(needed(false).all(|component| component.when == When::Always));
    }
}
