//! Cargo, called from a program that cargo has started.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::steps::{Outcome, say, watch};

/// An executable of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Executable {
    pub(crate) package: String,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Runs cargo with these arguments and variables.
pub(crate) fn run(arguments: &[&str], variables: &[(&str, &str)], limit: Duration) -> Outcome {
    watch(
        command().args(arguments).envs(variables.iter().copied()),
        &[0],
        limit,
    )
}

/// Builds all that the tests need, and tells which programs and examples came out of it.
///
/// One selection for everything: a package built by itself has other features than in the workspace,
/// and its dependencies would be compiled again.
pub(crate) fn build() -> Result<Vec<Executable>, String> {
    let mut build = command();
    let all = [
        "build",
        "--workspace",
        "--lib",
        "--bins",
        "--examples",
        "--tests",
    ];
    say(format_args!("$ cargo {}", all.join(" ")));
    build
        .args(all)
        .arg("--message-format=json-render-diagnostics");
    let mut child = build
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    let mut executables = Vec::new();
    if let Some(messages) = child.stdout.take() {
        for line in BufReader::new(messages).lines() {
            let line = line.map_err(|error| format!("cargo's messages end early: {error}"))?;
            executables.extend(executable(&line));
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        Ok(executables)
    } else {
        Err(format!("cargo: {status}"))
    }
}

/// The program or example that a message of cargo announces.
fn executable(message: &str) -> Option<Executable> {
    let message: Value = serde_json::from_str(message).ok()?;
    let kind = message["target"]["kind"][0].as_str()?;
    let is_test = message["profile"]["test"].as_bool()?;
    if message["reason"] != "compiler-artifact" || is_test || !matches!(kind, "bin" | "example") {
        return None;
    }
    let package = PathBuf::from(message["manifest_path"].as_str()?);
    Some(Executable {
        package: package.parent()?.file_name()?.to_str()?.to_owned(),
        name: message["target"]["name"].as_str()?.to_owned(),
        path: message["executable"].as_str()?.into(),
    })
}

/// Cargo as the user would call it, in the root of the repository.
pub(crate) fn command() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo tells a program that it runs would reach the build scripts, some of which start
    // anew for it.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let told = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
            "CARGO_PRIMARY_",
        ];
        if told.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command.current_dir(root());
    command
}

/// The root of the repository: two folders above this crate.
pub(crate) fn root() -> PathBuf {
    let crate_folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    crate_folder
        .and_then(|folder| Some(folder.parent()?.parent()?.to_owned()))
        .unwrap_or_else(|| ".".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &str, test: bool) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","manifest_path":"/r/examples/Cargo.toml","profile":{{"test":{test}}},
                "target":{{"kind":["{kind}"],"name":"quickstart"}},"executable":"/t/debug/examples/quickstart"}}"#
        )
    }

    #[test]
    fn programs_and_examples_are_found_and_tests_are_not() {
        let found = executable(&message("example", false)).unwrap();
        assert_eq!(
            (found.package.as_str(), found.name.as_str()),
            ("examples", "quickstart")
        );
        assert_eq!(found.path, PathBuf::from("/t/debug/examples/quickstart"));
        assert!(executable(&message("bin", false)).is_some());
        assert_eq!(executable(&message("example", true)), None);
        assert_eq!(executable(&message("lib", false)), None);
        assert_eq!(executable("no json"), None);
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("Cargo.lock").exists());
    }
}
