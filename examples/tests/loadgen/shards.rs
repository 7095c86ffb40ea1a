//! One run from several processes.

mod refusals;

use crate::*;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

/// Long enough for four processes to be set up on a busy machine.
const AHEAD: Duration = Duration::from_secs(5);
/// As long as a verdict on the rate needs: ten seconds.
const LOAD: &str = "--rate 200 --arrivals constant --ramp-up 0s --warm-up 0s --steady 10s --cooldown 0s \
                    --connections 8";

/// A whole millisecond, which is what reports hold.
pub(crate) fn soon() -> jiff::Timestamp {
    let at = jiff::Timestamp::try_from(SystemTime::now() + AHEAD).unwrap();
    jiff::Timestamp::from_millisecond(at.as_millisecond()).unwrap()
}

/// A folder that is removed at the end.
pub(crate) struct Folder(Scratch);

impl Folder {
    pub(crate) fn new() -> Self {
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.path()).unwrap();
        Folder(scratch)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.path())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.path());
    }
}

/// seq and instant, as `--preview-arrivals` writes them.
fn arrivals(csv: &str) -> BTreeSet<(u64, u64)> {
    let of_line = |line: &str| {
        let mut fields = line.split(',');
        let mut next = || fields.next().unwrap().parse().unwrap();
        (next(), next())
    };
    csv.lines().skip(1).map(of_line).collect()
}

fn merged(files: &[&str]) -> Output {
    run(&format!("report --merge --json - {}", files.join(" ")))
}

#[test]
fn shards_have_every_arrival_of_the_whole_once_at_its_instant() {
    let load = "--rate 1000 --steady 3s --seed 7 --preview-arrivals";
    let all = Scratch::new();
    let whole = loadgen("http://127.0.0.1:1/", &format!("{load} {}", all.path()));
    assert_status(&whole, 0);
    let whole = arrivals(&all.read());
    let mut union = BTreeSet::new();
    for index in 0..4 {
        let part = Scratch::new();
        let flags = format!(
            "{load} {}{{shard}} --shard {index}/4 --start-at 2999-01-01T00:00:00Z",
            part.path()
        );
        assert_status(&loadgen("http://127.0.0.1:1/", &flags), 0);
        let file = format!("{}{index}", part.path());
        let part = arrivals(&std::fs::read_to_string(&file).unwrap());
        std::fs::remove_file(file).unwrap();
        assert!(part.iter().all(|(seq, _)| seq % 4 == index));
        assert!(part.iter().all(|arrival| union.insert(*arrival)));
    }
    assert_eq!(union, whole);
}

/// Four processes by mpirun, each of which writes its number and its process before it begins.
fn mpirun(folder: &Folder, url: &str, flags: &str) -> Command {
    let mut mpirun = Command::new("mpirun");
    mpirun.args(["--oversubscribe", "-n", "4"]);
    // One that is lost is not to take the others with it.
    mpirun.arg("--continuous");
    // It refuses root unless it is told twice.
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let script = "echo $$ > \"$1/process-$OMPI_COMM_WORLD_RANK\"; shift; exec \"$@\"";
    mpirun.args(["sh", "-c", script, "sh", folder.path()]);
    mpirun.args([env!("CARGO_BIN_EXE_loadgen"), "http", url]);
    mpirun.args(flags.split_whitespace());
    mpirun.args(BUSY.split_whitespace());
    mpirun.args(["--shard", "env", "--quiet"]);
    mpirun.args(["--json", &folder.file("run-{shard}.json")]);
    mpirun.stdin(Stdio::null());
    mpirun
}

#[test]
fn four_processes_of_mpirun_are_one_run_at_the_target_and_in_the_report() {
    let server = server().start().unwrap();
    let folder = Folder::new();
    let at = soon();
    let load = format!("{LOAD} --start-at {at} --slo achieved>=150/s");
    let done = mpirun(&folder, &server.url("/"), &load).output();
    let done = done.unwrap_or_else(|why| panic!("mpirun: {why}: `cargo testbed` installs it"));

    let files: Vec<String> = (0..4)
        .map(|index| folder.file(&format!("run-{index}.json")))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let all = merged(&files);
    let whole = report(&all);
    assert_balances(&whole);
    assert_eq!(whole["arrivals"]["scheduled"], 2000, "{done:?}");
    assert_eq!(whole["planned"], 2000);
    assert_eq!(whole["asked_rate"], 200.0);
    assert_eq!(
        whole["merged"],
        serde_json::json!({ "of": "shards", "reports": 4 })
    );
    for (index, file) in files.iter().enumerate() {
        let part: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(part["arrivals"]["scheduled"], 500);
        assert_eq!(part["shard"]["index"], index);
        // A quarter of the rate says nothing of the whole.
        assert_eq!(part["slo"]["verdict"], "inconclusive");
        let agreed: jiff::Timestamp = part["shard"]["start_at"].as_str().unwrap().parse().unwrap();
        assert_eq!(agreed.as_millisecond(), at.as_millisecond());
    }
    // Together they offer what was asked for, and the status is that of one run.
    assert_status(&all, 0);
    assert_eq!(whole["slo"]["verdict"], "pass");

    // On one machine they read one clock.
    as_the_schedule_has_it(&server, at, &whole, 0.0);

    let lost = merged(&[files[0], files[1], files[3]]);
    assert_status(&lost, 2);
    assert!(
        stderr(&lost).contains("of 4 there are all but number 2"),
        "{lost:?}"
    );
    let runs = run(&format!("report {}", files.join(" ")));
    assert_status(&runs, 2);
    assert!(stderr(&runs).contains("give --merge"), "{runs:?}");
    let copy = folder.file("copy");
    std::fs::copy(files[2], &copy).unwrap();
    let twice = merged(&[files[0], files[1], files[2], &copy]);
    assert_status(&twice, 2);
    assert!(
        stderr(&twice).contains("shard 2 is there twice"),
        "{twice:?}"
    );
}

/// What reached the target against the schedule, arrival by arrival: none before its instant, and none later than the
/// longest response that the report admits to. So the rate is that of the schedule from one second to the next, and there
/// is no burst but of what was late; how late is up to the machine, and the report must own it.
fn as_the_schedule_has_it(server: &HttpServer, at: jiff::Timestamp, whole: &Value, apart: f64) {
    let (now, wall) = (std::time::Instant::now(), jiff::Timestamp::now());
    let since_start = Duration::try_from(wall.duration_since(at)).unwrap();
    let start = now - since_start;
    // In any order of the shards: if each arrival lies within, so do the first, the second, and so on.
    let mut seen: Vec<f64> = server
        .log()
        .iter()
        .map(|one| match one.arrival.checked_duration_since(start) {
            Some(after) => after.as_secs_f64(),
            None => -start.duration_since(one.arrival).as_secs_f64(),
        })
        .collect();
    seen.sort_by(f64::total_cmp);
    assert_eq!(seen.len(), 2000);
    let longest = whole["latency"]["response"]["max_ns"].as_f64().unwrap() / 1e9;
    // The two clocks are not read at the same instant, and those of the shards may be apart, in seconds.
    let reading = 0.001 + apart;
    for (k, seen) in seen.iter().enumerate() {
        let intended = k as f64 / 200.0;
        assert!(
            intended - reading <= *seen && *seen <= intended + longest + reading,
            "arrival {k}, intended at {intended} s, came at {seen} s; the longest response took {longest} s"
        );
    }
    // A machine that does nothing else is late by no more than this.
    if std::env::var_os("OPENLOOP_FULL").is_some() {
        assert!(longest < 0.05, "{longest}");
    }
    let mut bins = [0_u32; 10];
    seen.iter()
        .for_each(|seen| bins[(seen.max(0.0) as usize).min(9)] += 1);
    // 200 in each second, but for those that were late.
    let late = (longest * 200.0).ceil() as u32 + 1;
    for bin in bins {
        assert!(bin.abs_diff(200) <= late, "{bins:?}, {late} late");
    }
}

#[test]
fn a_process_that_is_killed_in_the_middle_is_named_and_there_is_no_result() {
    let server = server().start().unwrap();
    let folder = Folder::new();
    let load = format!("{LOAD} --start-at {}", soon());
    let mut mpirun = mpirun(&folder, &server.url("/"), &load);
    let mut run = mpirun.stdout(Stdio::null()).spawn().unwrap();
    while server.served() < 200 {
        assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    let process = std::fs::read_to_string(folder.file("process-2")).unwrap();
    let process = Pid::from_raw(process.trim().parse().unwrap()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
    run.wait().unwrap();
    // The others went on to the end, and their books are whole.
    let files: Vec<String> = [0, 1, 3]
        .iter()
        .map(|index| folder.file(&format!("run-{index}.json")))
        .collect();
    for file in &files {
        let part: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert_balances(&part);
        assert_eq!(
            (&part["interrupted"], &part["arrivals"]["scheduled"]),
            (&false.into(), &500.into())
        );
    }
    assert!(!std::path::Path::new(&folder.file("run-2.json")).exists());
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let lost = merged(&files);
    assert_status(&lost, 2);
    assert_eq!(stdout(&lost), "");
    assert!(
        stderr(&lost).contains("of 4 there are all but number 2"),
        "{lost:?}"
    );
}

/// Two machines: one whose clock is right, and one whose clock is ten seconds ahead. Both ask a third.
#[cfg(target_os = "linux")]
#[test]
fn machines_whose_clocks_differ_begin_together_by_the_one_that_they_ask() {
    use crate::faults::machine::WallClock;
    let (server, reference, folder) = (
        server().start().unwrap(),
        openloop_testbed::Chrony::start().unwrap(),
        Folder::new(),
    );
    let at = soon();
    let begin = |index: usize, clock: &WallClock| {
        let flags = format!(
            "{LOAD} {BUSY} --shard {index}/2 --start-at {at} --clock-reference {} --quiet --json {}",
            reference.address(),
            folder.file("run-{shard}.json")
        );
        let mut command = command(&server.url("/"), &flags);
        clock.read_by(&mut command);
        command.spawn().unwrap()
    };
    let (right, ahead) = (WallClock::new(), WallClock::new());
    ahead.set("+10s");
    for mut process in [begin(0, &right), begin(1, &ahead)] {
        assert_eq!(process.wait().unwrap().code(), Some(0));
    }
    let files = [0, 1].map(|index| folder.file(&format!("run-{index}.json")));
    for (file, off) in files.iter().zip([0.0, -10e9]) {
        let part: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let clock = &part["shard"]["clock"];
        assert_eq!(clock["reference"], reference.address());
        // What is told is true, and no better than it says.
        let within = clock["within_ns"].as_f64().unwrap();
        let error = clock["offset_ns"].as_f64().unwrap() - off;
        assert!(error.abs() <= within && within < 5e7, "{clock}");
    }
    let whole = merged(&files.each_ref().map(String::as_str));
    assert_status(&whole, 0);
    let whole = report(&whole);
    assert_eq!(whole["arrivals"]["ok"], 2000);
    let checks = whole["validity"]["checks"].as_array().unwrap();
    let clocks = checks.iter().find(|check| check["name"] == "shard_clocks");
    let clocks = clocks.unwrap();
    assert_eq!(clocks["pass"], true, "{clocks}");
    as_the_schedule_has_it(&server, at, &whole, clocks["value"].as_f64().unwrap() / 1e9);
}
