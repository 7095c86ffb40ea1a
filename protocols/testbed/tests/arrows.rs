//! The shape of the repository: which crate may know which, and what lies where.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

/// The arrows, each from a crate to those that it may depend on; a crate may also depend on whatever
/// can be reached over several of them.
const ARROWS: &[(&str, &[&str])] = &[
    (
        "examples",
        &[
            "report",
            "workload",
            "net",
            "http",
            "postgres",
            "redis",
            "grpc",
            "inference",
            "testbed",
        ],
    ),
    ("report", &["experiment"]),
    ("experiment", &["measurer", "capacity", "workload"]),
    ("measurer", &["sched"]),
    ("http", &["measurer", "net"]),
    ("postgres", &["measurer", "net"]),
    ("redis", &["measurer", "net"]),
    ("grpc", &["measurer", "net"]),
    ("inference", &["measurer", "net", "http", "workload"]),
    ("testbed", &["capacity"]),
    ("sched", &[]),
    ("workload", &[]),
    ("capacity", &[]),
    ("net", &[]),
];

/// What the top level of the repository consists of, beside licences and names with a dot.
const TOP_LEVEL: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "README.md",
    "examples",
    "measure",
    "protocols",
    "sched",
    "workload",
];

/// A dependency between two crates of the workspace, named without their common prefix.
#[derive(Debug, Clone)]
struct Edge {
    from: String,
    to: String,
    kind: DependencyKind,
    /// Whether a version is asked for, which makes it a dependency of the published crate.
    has_version: bool,
}

/// What is wrong with a dependency, if anything.
fn violation(edge: &Edge) -> Option<String> {
    let Edge {
        from,
        to,
        kind,
        has_version,
    } = edge;
    for name in [from, to] {
        if !ARROWS.iter().any(|(known, _)| known == name) {
            return Some(format!("{name} has no place among the arrows"));
        }
    }
    if *kind == DependencyKind::Development {
        if to == "testbed" && *has_version {
            return Some(format!(
                "{from} depends on testbed by a version: a path alone keeps it unpublished"
            ));
        }
        if to == "testbed" || from == "testbed" {
            return None;
        }
    }
    (!reachable(from).contains(to.as_str())).then(|| format!("no arrow leads from {from} to {to}"))
}

/// All crates to which arrows lead from this one, over one or several.
fn reachable(from: &str) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        let direct = ARROWS.iter().filter(|(known, _)| *known == name);
        for target in direct.flat_map(|(_, targets)| *targets) {
            if found.insert(*target) {
                open.push(target);
            }
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn packages() -> Vec<Package> {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap();
    metadata.packages
}

fn short(name: &str) -> String {
    name.strip_prefix("openloop-").unwrap_or(name).to_owned()
}

fn edges(package: &Package) -> Vec<Edge> {
    let own = package
        .dependencies
        .iter()
        .filter(|dependency| dependency.path.is_some());
    own.map(|dependency| Edge {
        from: short(&package.name),
        to: short(&dependency.name),
        kind: dependency.kind,
        has_version: dependency.req != cargo_metadata::semver::VersionReq::STAR,
    })
    .collect()
}

fn edge(from: &str, to: &str, kind: DependencyKind, has_version: bool) -> Edge {
    Edge {
        from: from.to_owned(),
        to: to.to_owned(),
        kind,
        has_version,
    }
}

#[test]
fn every_dependency_inside_the_workspace_is_an_arrow() {
    let packages = packages();
    assert!(packages.len() >= 10, "the workspace has lost crates");
    let edges: Vec<_> = packages.iter().flat_map(edges).collect();
    assert!(!edges.is_empty(), "no dependency was found at all");
    let violations: Vec<_> = edges.iter().filter_map(violation).collect();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn a_forbidden_edge_is_found() {
    use DependencyKind::{Build, Development, Normal};
    for (from, to) in [
        ("sched", "measurer"),
        ("measurer", "experiment"),
        ("experiment", "report"),
        ("http", "experiment"),
        ("http", "redis"),
        ("net", "measurer"),
        ("measurer", "workload"),
        ("capacity", "sched"),
        ("http", "testbed"),
        ("testbed", "http"),
    ] {
        assert!(
            violation(&edge(from, to, Normal, true)).is_some(),
            "{from} to {to}"
        );
        assert!(
            violation(&edge(from, to, Build, true)).is_some(),
            "{from} to {to}"
        );
    }
    assert!(violation(&edge("sched", "report", Development, true)).is_some());
    assert!(violation(&edge("http", "testbed", Development, true)).is_some());
    assert!(
        violation(&edge("sched", "newcomer", Normal, true))
            .unwrap()
            .contains("newcomer")
    );
}

#[test]
fn an_arrow_over_several_crates_is_an_arrow() {
    use DependencyKind::{Development, Normal};
    for (from, to) in [
        ("examples", "testbed"),
        ("examples", "sched"),
        ("report", "measurer"),
        ("report", "sched"),
        ("http", "sched"),
        ("inference", "http"),
        ("testbed", "capacity"),
    ] {
        assert_eq!(violation(&edge(from, to, Normal, true)), None);
    }
    assert_eq!(
        violation(&edge("http", "testbed", Development, false)),
        None
    );
}

#[test]
fn arrows_point_one_way_only() {
    for (name, _) in ARROWS {
        assert!(
            !reachable(name).contains(name),
            "{name} can be reached from itself"
        );
    }
}

#[test]
fn what_is_not_published_says_so_and_the_rest_does_not_build_upon_it() {
    for package in packages() {
        let name = short(&package.name);
        let unpublished = package.publish.as_ref().is_some_and(Vec::is_empty);
        assert_eq!(
            unpublished,
            ["testbed", "examples"].contains(&name.as_str()),
            "{name}"
        );
        if !unpublished {
            let normal = edges(&package).into_iter().find(|edge| {
                edge.kind != DependencyKind::Development
                    && ["testbed", "examples"].contains(&edge.to.as_str())
            });
            assert!(normal.is_none(), "{normal:?}");
        }
    }
}

#[test]
fn the_top_level_is_what_the_map_says() {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // The folder that cargo builds into is no part of the repository.
        if !name.starts_with('.') && !name.starts_with("LICENSE") && name != "target" {
            found.insert(name);
        }
    }
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        TOP_LEVEL
    );
}

#[test]
fn every_crate_inherits_what_is_common_and_keeps_a_changelog() {
    for package in packages() {
        let manifest = fs::read_to_string(&package.manifest_path).unwrap();
        for line in [
            "rust-version.workspace = true",
            "edition.workspace = true",
            "license.workspace = true",
            "[lints]\nworkspace = true",
        ] {
            assert!(
                manifest.contains(line),
                "{} lacks {line:?}",
                package.manifest_path
            );
        }
        let changelog = package.manifest_path.with_file_name("CHANGELOG.md");
        assert!(changelog.exists(), "{changelog} is missing");
    }
}
