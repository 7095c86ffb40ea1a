//! What is no run of several processes: refused, and why.

use super::{Folder, merged, soon};
use crate::*;
use std::time::{Duration, Instant};

#[test]
fn shards_of_different_loads_are_not_merged_and_the_difference_is_named() {
    let server = server().start().unwrap();
    let folder = Folder::new();
    let at = soon();
    let parts = [
        ("--shard 0/2 --rate 100", "a"),
        ("--shard 1/2 --rate 100", "b"),
        ("--shard 1/2 --rate 100 --seed 2", "c"),
        ("--shard 1/2 --rate 120", "d"),
        ("--shard 1/2 --rate 100 --arrivals constant", "e"),
        ("--shard 1/2 --rate 100 --timeout 1s", "f"),
        ("--rate 100", "g"),
        ("--shard 1/2 --rate 100 --method POST", "h"),
        ("--shard 1/2 --rate 100 --body other", "i"),
    ];
    let runs = parts.map(|(flags, name)| {
        let phases = "--ramp-up 0s --warm-up 0s --steady 300ms --cooldown 0s --connections 2";
        let flags = format!(
            "{flags} {phases} {BUSY} --start-at {at} --quiet --json {}{{shard}}",
            folder.file(name)
        );
        command(&server.url("/"), &flags).spawn().unwrap()
    });
    let other_target = format!(
        "--rate 100 --shard 1/2 --ramp-up 0s --warm-up 0s --steady 300ms --cooldown 0s --connections 2 {BUSY} \
         --start-at {at} --quiet --json {}{{shard}}",
        folder.file("k")
    );
    let other_target = command(&server.url("/other"), &other_target).spawn();
    for mut run in runs.into_iter().chain([other_target.unwrap()]) {
        assert_eq!(run.wait().unwrap().code(), Some(0));
    }
    let with = |other: &str| merged(&[&folder.file("a0"), &folder.file(other)]);
    assert_status(&with("b1"), 0);
    for (other, difference) in [
        ("c1", "the seed differs"),
        ("d1", "the rate asked for differs"),
        ("e1", "the plan (arrivals"),
        ("f1", "the plan (arrivals"),
        ("g{shard}", "nothing of being a shard"),
        ("h1", "what is asked for"),
        ("i1", "what is asked for"),
        ("k1", "the target differs"),
    ] {
        let refused = with(other);
        assert_status(&refused, 2);
        let said = stderr(&refused);
        assert!(said.contains(difference), "{other}: {said}");
    }
}

#[test]
fn a_clock_that_does_not_answer_is_told_before_anything_is_sent() {
    let server = server().start().unwrap();
    // Of a socket that nobody reads: silence; of none: a refusal.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().to_string();
    for reference in [silent.as_str(), "127.0.0.1:1", "no-such-host.invalid"] {
        let flags = format!(
            "--rate 10 {SECOND} --shard 0/2 --start-at 2999-01-01T00:00:00Z --clock-reference {reference}"
        );
        let output = loadgen(&server.url("/"), &flags);
        assert_status(&output, 4);
        let said = stderr(&output);
        assert!(said.contains(reference) && said.contains("NTP"), "{said}");
    }
    assert_eq!(server.accepted(), 0);
}

#[test]
fn what_shards_cannot_do_is_refused_before_anything_is_sent() {
    let url = "http://127.0.0.1:1/";
    let later = "--start-at 2999-01-01T00:00:00Z";
    for (flags, said) in [
        ("--shard 0/4".to_owned(), "--start-at"),
        (format!("--shard 4/4 {later}"), "there is no shard 4 of 4"),
        (format!("--shard half {later}"), "such as 1/4"),
        (format!("--shard -1/4 {later}"), "such as 1/4"),
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

/// Its connections come about once the others have begun.
#[test]
fn a_shard_that_is_set_up_too_late_sends_nothing_and_the_merge_names_it() {
    let (prompt, slow) = (
        server().start().unwrap(),
        server().backlog(0).accepting(false).start().unwrap(),
    );
    let folder = Folder::new();
    let at = soon();
    let begin = |server: &HttpServer, index: usize| {
        let flags = format!(
            "--rate 100 {SECOND} {BUSY} --connections 8 --shard {index}/2 --start-at {at} --quiet --json {}",
            folder.file("run-{shard}.json")
        );
        let mut command = command(&server.url("/"), &flags);
        command
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let (mut first, second) = (begin(&prompt, 0), begin(&slow, 1));
    let begun = Instant::now();
    while prompt.served() == 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it does not begin"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    slow.set_accepting(true);
    assert_eq!(first.wait().unwrap().code(), Some(0));
    let second = second.wait_with_output().unwrap();
    assert_status(&second, 3);
    let said = stderr(&second);
    assert!(
        said.contains("should have begun") && said.contains("later instant"),
        "{said}"
    );
    assert_eq!(slow.served(), 0);
    assert!(!std::path::Path::new(&folder.file("run-1.json")).exists());
    let lost = merged(&[&folder.file("run-0.json")]);
    assert_status(&lost, 2);
    assert!(stderr(&lost).contains("all but number 1"), "{lost:?}");
}
