//! The ready files for clusters, run as they are.

use crate::shards::{Folder, soon};
use crate::*;
use std::path::Path;

/// Little load, and soon.
const LOAD: &str = "--rate 100 --arrivals constant --ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s --connections 4";

fn file(name: &str) -> String {
    format!("{}/clusters/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A command that finds `loadgen` where a cluster would have it.
fn prepare(command: &mut Command, folder: &Folder) {
    let loadgen = Path::new(env!("CARGO_BIN_EXE_loadgen")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", loadgen.display()));
    command.env("START_IN", "6").current_dir(folder.path());
}

/// The one merged report that a script leaves behind, of four parts that are there as well.
#[track_caller]
fn assert_merged(folder: &Folder, server: &HttpServer) {
    let files = std::fs::read_dir(folder.path()).unwrap().flatten();
    let names = files.map(|file| file.file_name().into_string().unwrap());
    let reports: Vec<String> = names.filter(|name| name.starts_with("run-")).collect();
    assert_eq!(reports.len(), 6, "{reports:?}");
    // That of a part has its number behind the name of the run.
    let merged = reports.iter().filter(|name| name.ends_with(".json"));
    let merged = merged.min_by_key(|name| name.len());
    let text = std::fs::read_to_string(folder.file(merged.unwrap())).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_balances(&report);
    assert_eq!(report["merged"]["reports"], 4);
    assert_eq!(report["arrivals"]["scheduled"], 200);
    assert_eq!(report["arrivals"]["ok"], server.served());
}

#[test]
fn the_script_for_mpirun_makes_one_report_of_four_processes() {
    let server = server().start().unwrap();
    let folder = Folder::new();
    std::fs::write(folder.file("hosts.txt"), "localhost slots=4\n").unwrap();
    let mut script = Command::new("bash");
    script.args([&file("mpirun.sh"), "hosts.txt", "4", &server.url("/")]);
    script.args(LOAD.split_whitespace());
    script.args(BUSY.split_whitespace());
    // It refuses root unless it is told twice.
    script.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
    script.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    prepare(&mut script, &folder);
    let output = script.output().unwrap();
    assert_status(&output, 0);
    assert_merged(&folder, &server);
}

#[cfg(target_os = "linux")]
#[test]
fn the_script_for_slurm_makes_one_report_of_four_tasks() {
    if std::env::var_os("OPENLOOP_FULL").is_none() {
        println!("not run: OPENLOOP_FULL=1 starts a cluster");
        return;
    }
    let slurm = openloop_testbed::Slurm::start(8).unwrap();
    let server = server().start().unwrap();
    let folder = Folder::new();
    let mut job = slurm.command("sbatch");
    // One machine instead of four; the rest is the script's own.
    job.args([
        "--wait",
        "--output=said",
        "--nodes=1",
        "--ntasks-per-node=4",
    ]);
    job.args([&file("slurm.sbatch"), &server.url("/")]);
    job.args(LOAD.split_whitespace());
    job.args(BUSY.split_whitespace());
    prepare(&mut job, &folder);
    let output = job.output().unwrap();
    let said = std::fs::read_to_string(folder.file("said")).unwrap_or_default();
    assert_eq!(output.status.code(), Some(0), "{output:?}\n{said}");
    assert!(said.contains("4 SHARDS MERGED"), "{said}");
    assert_merged(&folder, &server);
}

/// No Kubernetes, but what it makes of the file: four processes with these arguments and variables.
#[test]
fn the_job_for_kubernetes_has_arguments_and_variables_that_make_one_report() {
    let server = server().start().unwrap();
    let folder = Folder::new();
    let job = std::fs::read_to_string(file("kubernetes.yaml")).unwrap();
    let at = soon().to_string();
    let between = |from: &str, to: &str| {
        let (_, rest) = job.split_once(from).unwrap();
        rest.split_once(to).unwrap().0
    };
    let here = |word: &str| {
        word.replace("http://service.test/", &server.url("/"))
            .replace("$(START_AT)", &at)
            .replace("/reports", folder.path())
            .replace("--rate=20000", "--rate=100")
    };
    let arguments: Vec<String> = between("args:", "env:")
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "))
        .map(here)
        .collect();
    assert_eq!(arguments.len(), 7, "{arguments:?}");
    let shards = between("- name: OPENLOOP_SHARDS", "- name");
    let shards = shards.split('"').nth(1).unwrap();
    assert_eq!(between("completions: ", "\n"), shards);
    let pods: Vec<_> = (0..4)
        .map(|index| {
            let mut pod = Command::new(env!("CARGO_BIN_EXE_loadgen"));
            pod.args(&arguments).args(BUSY.split_whitespace());
            pod.args(LOAD.split_whitespace().skip(2));
            pod.env("OPENLOOP_SHARDS", shards);
            pod.env("JOB_COMPLETION_INDEX", index.to_string());
            pod.spawn().unwrap()
        })
        .collect();
    for mut pod in pods {
        assert_eq!(pod.wait().unwrap().code(), Some(0));
    }
    let files: Vec<String> = (0..4)
        .map(|index| folder.file(&format!("run-{index}.json")))
        .collect();
    let merged = run(&format!("report --merge --json - {}", files.join(" ")));
    assert_status(&merged, 0);
    assert_eq!(report(&merged)["arrivals"]["ok"], server.served());
    assert_eq!(report(&merged)["arrivals"]["scheduled"], 200);
}
