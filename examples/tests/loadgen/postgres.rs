//! `loadgen postgres` against a real server.

use crate::*;
use openloop_testbed::Postgres;
use std::sync::OnceLock;
use std::time::Duration;

/// The server of all tests here; it ends with the process.
fn server() -> &'static Postgres {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = Postgres::start().unwrap();
        server
            .sql("CREATE TABLE items AS SELECT i AS id, -i AS balance FROM generate_series(1, 1000) i")
            .unwrap();
        server.sql("CREATE UNIQUE INDEX ON items (id)").unwrap();
        server
    })
}

/// With these queries, and flags that are parted by spaces.
fn load(queries: &[&str], flags: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadgen"));
    command.args(["postgres", &server().dsn()]);
    for query in queries {
        command.args(["--query", query]);
    }
    let flags = format!("{flags} {BUSY} --json -");
    command.args(flags.split_whitespace()).output().unwrap()
}

#[test]
fn keys_are_parameters_and_rows_and_the_buffer_pool_are_in_the_report() {
    let query = "SELECT balance FROM items WHERE id = {key}";
    let flags = format!("--rate 300 {SECOND} --keys zipf:1000:0.99 --connections 4");
    let output = load(&[query], &flags);
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    let ok = report["arrivals"]["ok"].as_u64().unwrap();
    assert_eq!(report["counts"]["rows"], ok);
    assert_eq!(report["counts"]["connections_reused"], ok);
    for stage in ["acquire", "first_row", "all_rows"] {
        assert_eq!(report["metrics"][stage]["count"], ok, "{stage}");
    }
    assert_eq!(report["metrics"]["prepare"], Value::Null);
    assert!(
        report["observations"]["buffer_blocks_read"].is_number(),
        "{}",
        report["observations"]
    );
}

#[test]
fn several_queries_are_one_transaction() {
    server()
        .sql("CREATE TABLE booked (id int, at timestamptz DEFAULT now())")
        .unwrap();
    let insert = "INSERT INTO booked (id) VALUES ({key})";
    let flags = format!("--rate 100 {SECOND} --keys sequential:1e6 --connections 4");
    let output = load(&[insert, insert], &flags);
    assert_status(&output, 0);
    let report = report(&output);
    let ok = report["arrivals"]["ok"].as_u64().unwrap();
    assert_eq!(report["counts"]["rows_affected"], 2 * ok);
    // now() is the beginning of the transaction.
    let pairs = "SELECT count(*) FROM (SELECT id FROM booked GROUP BY id HAVING count(*) = 2 AND count(DISTINCT at) = 1) t";
    assert_eq!(server().sql(pairs).unwrap(), ok.to_string());
}

#[test]
fn kinds_of_request_are_told_apart_and_their_fields_are_parameters() {
    server()
        .sql("CREATE TABLE notes (id int, note text)")
        .unwrap();
    let file = Scratch::new();
    let mix = r#"
        [[kind]]
        name = "read"
        weight = 3
        query = "SELECT balance FROM items WHERE id = {id}"
        fields.id = { keys = "uniform:1000" }

        [[kind]]
        name = "write"
        weight = 1
        query = ["INSERT INTO notes VALUES ({id}, {note})", "UPDATE notes SET note = note || {note} WHERE id = {id}"]
        fields.id = { keys = "sequential:1e6" }
        fields.note = { choice = ["it's", "'; DROP TABLE notes; --"] }
    "#;
    std::fs::write(file.path(), mix).unwrap();
    let flags = format!("--mix {} --rate 200 {SECOND} --connections 4", file.path());
    let output = load(&[], &flags);
    assert_status(&output, 0);
    let report = report(&output);
    let of = |kind: &str| report["kinds"][kind]["arrivals"]["ok"].as_u64().unwrap();
    assert_eq!(
        of("read") + of("write"),
        report["arrivals"]["ok"].as_u64().unwrap()
    );
    assert_eq!(report["counts"]["rows"], of("read"));
    let doubled = "SELECT count(*) FROM notes
        WHERE note IN (repeat($$it's$$, 2), repeat($$'; DROP TABLE notes; --$$, 2))";
    assert_eq!(server().sql(doubled).unwrap(), of("write").to_string());
}

#[test]
fn a_full_line_fails_and_what_is_served_has_waited_on_our_side() {
    let flags = format!("--rate 400 --arrivals constant {SECOND} --connections 4 --line 4");
    let output = load(&["SELECT pg_sleep(0.02)"], &flags);
    let report = report(&output);
    assert_balances(&report);
    let (ok, failed) = (&report["arrivals"]["ok"], &report["arrivals"]["failed"]);
    assert_eq!(report["outcomes"]["failed"]["pool_full"], *failed);
    // Four at a time for at least 20 ms each.
    assert!(ok.as_u64() <= Some(4 * 50 + 8), "{ok}");
    assert_eq!(report["metrics"]["acquire"]["count"], *ok);
    assert!(report["metrics"]["acquire"]["p50_ns"].as_u64() > Some(10_000_000));
}

#[test]
fn a_lock_is_charged_to_everybody_who_waited_for_it() {
    server()
        .sql("CREATE TABLE locked AS SELECT 1 AS one")
        .unwrap();
    let flags = "--rate 200 --arrivals constant --ramp-up 0s --warm-up 0s --steady 3s --cooldown 0s --connections 4";
    let holder = std::thread::spawn(|| {
        let asked = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT one FROM locked'";
        while server().sql(asked).unwrap() == "0" {}
        let lock = "BEGIN; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(1); COMMIT";
        server().sql(lock).unwrap();
    });
    let output = load(&["SELECT one FROM locked"], flags);
    holder.join().unwrap();
    let report = report(&output);
    assert_balances(&report);
    let second = Duration::from_secs(1).as_nanos() as f64;
    let max = |name: &str| report["latency"][name]["max_ns"].as_f64().unwrap();
    assert!(max("response") >= 0.95 * second, "{}", max("response"));
    // 200 wait, four of them on the server: p90 of 600 is the 60th of those who waited longest, 0.7 s.
    let p90 = report["latency"]["response"]["p90_ns"].as_f64().unwrap();
    assert!(p90 >= 0.6 * second, "{p90}");
    let acquired = report["metrics"]["acquire"]["p90_ns"].as_f64().unwrap();
    assert!(acquired >= 0.6 * second, "{acquired}");
    // What a naive tool would have said: but for four it saw nothing.
    let exchange = report["latency"]["exchange"]["p90_ns"].as_f64().unwrap();
    assert!(exchange < 0.5 * second, "{exchange}");
}

#[test]
fn timeouts_are_counted_and_leave_no_query_behind() {
    let flags = format!("--rate 100 {SECOND} --timeout 50ms --connections 8");
    let output = load(&["SELECT pg_sleep(30)"], &flags);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(
        report["arrivals"]["timed_out"],
        report["arrivals"]["scheduled"]
    );
    let running = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(30)' AND state = 'active'";
    while server().sql(running).unwrap() != "0" {}
}

#[test]
fn what_the_server_does_not_understand_is_known_before_anything_is_sent() {
    let wrong = load(&["SELECT * FROM nowhere"], &format!("--rate 1 {SECOND}"));
    assert_status(&wrong, 2);
    assert!(stderr(&wrong).contains("nowhere"), "{}", stderr(&wrong));
    let away = run("postgres postgres://u:secret@127.0.0.1:1/d --query SELECT --rate 1");
    assert_status(&away, 4);
    assert!(!stderr(&away).contains("secret"), "{}", stderr(&away));
    assert!(stderr(&away).contains("***@127.0.0.1"), "{}", stderr(&away));
}
