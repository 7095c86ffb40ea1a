//! What is refused, before anything is sent.

use crate::*;
use openloop_testbed::Certificate;
use std::net::TcpListener;

#[test]
fn bad_values_have_status_2_and_name_what_is_wrong() {
    let server = server().start().unwrap();
    for (flags, named) in [
        ("", "--rate"),
        ("--rate 0", "rate is 0"),
        ("--rate NaN", "NaN"),
        ("--rate -1", "-1"),
        ("--rate 1e300", "1e300"),
        ("--rate 10 --steady 0s", "steady"),
        ("--rate 10 --no-such-flag", "--no-such-flag"),
        ("--rate 10 --waive luck", "all_sent"),
        ("--rate 10 --threads 0", "threads"),
        (
            "--rate 10 --json /no/such/folder/report.json",
            "/no/such/folder",
        ),
        ("--closed 2 --preview", "closed loop"),
    ] {
        let output = loadgen(&server.url("/"), flags);
        assert_status(&output, 2);
        let message = stderr(&output);
        assert!(message.contains(named), "{flags}: {message}");
        assert_eq!(stdout(&output), "", "{flags}");
    }
    assert_eq!((server.accepted(), server.served()), (0, 0));
}

#[test]
fn keys_that_are_none_are_answered_with_what_to_write() {
    for (law, named) in [
        ("zipf", "zipf:1000:0.99"),
        ("zipf:1000:-1", "-1"),
        ("zipf:0:1", "0 keys"),
        ("zipf:1000:80/0", "top = 0"),
        ("hotspot:1000", "hotspot:1000:0.2:0.8"),
        ("latest:1000:0.99", "latest:1000:0.99:0.05"),
        ("latest:1000:0.99:0.05:scrambled", "scrambled"),
        ("zipf:1000:0.99:drift", "drift"),
        ("uniform:many", "many"),
        ("pareto:1000", "zipf"),
    ] {
        let output = loadgen(
            "http://127.0.0.1:1/{key}",
            &format!("--rate 10 --keys {law}"),
        );
        assert_status(&output, 2);
        let message = stderr(&output);
        assert!(message.contains(named), "{law}: {message}");
    }
}

#[test]
fn urls_that_are_none_have_status_2() {
    for (url, named) in [
        ("http://", "no host"),
        ("localhost/", "http://"),
        ("ftp://localhost/", "ftp"),
        ("http://user:secret@localhost/", "Authorization"),
    ] {
        let output = loadgen(url, "--rate 10");
        assert_status(&output, 2);
        assert!(stderr(&output).contains(named), "{}", stderr(&output));
        assert!(!stderr(&output).contains("secret"));
    }
}

#[test]
fn a_target_that_is_not_there_has_status_4() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let output = loadgen(
        &format!("http://{address}/"),
        &format!("--rate 10 {SECOND}"),
    );
    assert_status(&output, 4);
    assert!(stderr(&output).contains("refused"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

#[test]
fn a_run_that_is_refused_leaves_files_as_they_were() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", free.local_addr().unwrap());
    drop(free);
    let file = Scratch::new();
    let flags = format!("--rate 10 {SECOND} --json {}", file.path());
    assert_status(&loadgen(&url, &flags), 4);
    assert!(!std::path::Path::new(file.path()).exists());

    std::fs::write(file.path(), "the report of yesterday").unwrap();
    assert_status(&loadgen(&url, &flags), 4);
    assert_eq!(file.read(), "the report of yesterday");
}

#[test]
fn a_certificate_that_does_not_verify_has_status_4_and_nothing_is_sent() {
    for certificate in [
        Certificate::WrongHost,
        Certificate::Expired,
        Certificate::UnknownAuthority,
    ] {
        let server = server().tls(certificate).start().unwrap();
        let ca = Scratch::new();
        std::fs::write(ca.path(), server.ca_pem().unwrap()).unwrap();
        let flags = format!("--rate 10 {SECOND} --ca {}", ca.path());
        let output = loadgen(&server.url("/"), &flags);
        assert_status(&output, 4);
        let message = stderr(&output).to_lowercase();
        assert!(
            message.contains("certificate"),
            "{certificate:?}: {message}"
        );
        assert_eq!(server.served(), 0);
    }
}

#[test]
fn a_server_that_speaks_no_tls_has_status_4() {
    let server = server().start().unwrap();
    let url = server.url("/").replace("http://", "https://");
    assert_status(&loadgen(&url, &format!("--rate 10 {SECOND} --insecure")), 4);
}

#[cfg(target_os = "linux")]
#[test]
fn too_few_descriptors_have_status_3_and_the_numbers_before_anything_is_sent() {
    let server = server().start().unwrap();
    let program = env!("CARGO_BIN_EXE_loadgen");
    let script = format!(
        "ulimit -n 60; exec {program} http {} --rate 10 {SECOND} --connections 100",
        server.url("/")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_status(&output, 3);
    let message = stderr(&output);
    for part in ["132", "60", "fewer connections"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(server.accepted(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_soft_limit_is_raised_where_it_may_be() {
    let server = server().start().unwrap();
    let program = env!("CARGO_BIN_EXE_loadgen");
    let script = format!(
        "ulimit -S -n 60; exec {program} http {} --rate 10 --arrivals constant {SECOND} {BUSY} --connections 100 --json -",
        server.url("/")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(
        (&report["arrivals"]["ok"], server.accepted() >= 100),
        (&10.into(), true)
    );
}

#[test]
fn what_several_runs_cannot_be_is_refused_before_the_first() {
    let server = server().start().unwrap();
    for (flags, said) in [
        ("--rate 10 --sweep find --resolution 7", "0.001 to 0.5"),
        ("--rate 10 --sweep find --up-to 5", "higher end"),
        ("--rate 10 --sweep find --replicas 4", "4 replicas"),
        ("--sweep 10,20 --replicas 2", "2 replicas"),
        ("--sweep 10,20 --up-to 50", "--up-to"),
        ("--sweep 10,20 --slo achieved>=5/s", "achieved"),
        ("--rate 10 --floor --replicas 2", "2 replicas"),
        ("--rate 10 --retest 1", "--replicas"),
        ("--rate 100 --floor --overload 50", "higher rate"),
        ("--rate 10 --slo p99[search]<=5ms", "search"),
        ("--rate 10 --slo p100<=5ms", "p100"),
        ("--rate 10 --slo throughput<=5ms", "throughput"),
    ] {
        let output = loadgen(&server.url("/"), flags);
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(said),
            "{flags}: {}",
            stderr(&output)
        );
    }
    assert_eq!(server.served(), 0);
}
