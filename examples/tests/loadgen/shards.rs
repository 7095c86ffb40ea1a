//! One run from several processes.

use crate::*;
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

/// Long enough for four processes to be set up on a busy machine.
const AHEAD: Duration = Duration::from_secs(5);
const LOAD: &str =
    "--rate 200 --arrivals constant --ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s";

fn soon() -> String {
    let at = jiff::Timestamp::try_from(SystemTime::now() + AHEAD).unwrap();
    at.to_string()
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

#[test]
fn four_processes_of_mpirun_are_one_run_and_a_lost_one_is_named() {
    let server = server().start().unwrap();
    let folder = Scratch::new();
    let mut mpirun = Command::new("mpirun");
    mpirun.args(["--oversubscribe", "-n", "4"]);
    // It refuses root unless it is told twice.
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    mpirun.arg(env!("CARGO_BIN_EXE_loadgen"));
    mpirun.args(["http", &server.url("/")]);
    mpirun.args(LOAD.split_whitespace());
    mpirun.args(BUSY.split_whitespace());
    let file = |shard: &str| format!("{}-{shard}", folder.path());
    let at = soon();
    mpirun.args(["--shard", "env", "--start-at", &at]);
    mpirun.args(["--quiet", "--json", &file("{shard}")]);
    let done = mpirun.stdin(Stdio::null()).output();
    let done = done.unwrap_or_else(|why| panic!("mpirun: {why}: `cargo testbed` installs it"));
    assert_status(&done, 0);

    let files: Vec<String> = (0..4).map(|index| file(&index.to_string())).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let all = merged(&files);
    assert_status(&all, 0);
    let whole = report(&all);
    assert_balances(&whole);
    assert_eq!(whole["arrivals"]["scheduled"], 400);
    assert_eq!(whole["arrivals"]["ok"], server.served());
    assert_eq!(whole["planned"], 400);
    assert_eq!(whole["asked_rate"], 200.0);
    assert_eq!(
        whole["merged"],
        serde_json::json!({ "of": "shards", "reports": 4 })
    );
    for (index, file) in files.iter().enumerate() {
        let part: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(part["arrivals"]["scheduled"], 100);
        assert_eq!(part["shard"]["index"], index);
        let agreed: jiff::Timestamp = part["shard"]["start_at"].as_str().unwrap().parse().unwrap();
        let asked: jiff::Timestamp = at.parse().unwrap();
        assert_eq!(agreed.as_millisecond(), asked.as_millisecond());
    }
    // A machine that does nothing else: the rate at the target is that of the schedule, without bursts.
    if std::env::var_os("OPENLOOP_FULL").is_some() {
        let mut arrived: Vec<_> = server.log().iter().map(|one| one.arrival).collect();
        arrived.sort();
        for bin in arrived.windows(20).step_by(20) {
            let took = bin[19] - bin[0];
            let expected = Duration::from_millis(95);
            assert!(
                took.abs_diff(expected) < Duration::from_millis(5),
                "{took:?}"
            );
        }
    }
    let lost = merged(&[files[0], files[1], files[3]]);
    assert_status(&lost, 2);
    assert!(
        stderr(&lost).contains("of 4 there are all but number 2"),
        "{lost:?}"
    );
    let copy = file("copy");
    std::fs::copy(files[2], &copy).unwrap();
    let twice = merged(&[files[0], files[1], files[2], &copy]);
    std::fs::remove_file(copy).unwrap();
    assert_status(&twice, 2);
    assert!(
        stderr(&twice).contains("shard 2 is there twice"),
        "{twice:?}"
    );
    for file in files {
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn what_shards_cannot_do_is_refused_before_anything_is_sent() {
    let url = "http://127.0.0.1:1/";
    let later = "--start-at 2999-01-01T00:00:00Z";
    for (flags, said) in [
        ("--shard 0/4".to_owned(), "--start-at"),
        (format!("--shard 4/4 {later}"), "there is no shard 4 of 4"),
        (format!("--shard half {later}"), "such as 1/4"),
        (format!("--shard env {later}"), "OPENLOOP_SHARD"),
        (
            "--shard 0/4 --start-at 2020-01-01T00:00:00Z".to_owned(),
            "ago",
        ),
        ("--start-at tomorrow".to_owned(), "RFC 3339"),
        (format!("--shard 0/4 {later} --replicas 3"), "--replicas"),
        (format!("--shard 0/4 {later} --sweep 10,20"), "--sweep"),
        (
            format!("--shard 0/4 {later} --json run.json"),
            "put {shard} into the name",
        ),
    ] {
        let mut command = command(url, &format!("--rate 100 {flags}"));
        for name in [
            "OMPI_COMM_WORLD_RANK",
            "PMI_RANK",
            "SLURM_PROCID",
            "JOB_COMPLETION_INDEX",
        ] {
            command.env_remove(name);
        }
        let output = command.output().unwrap();
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(said),
            "{flags}: {}",
            stderr(&output)
        );
    }
}
