//! Each way to fail has its class.

use crate::{class, client, named, server};
use openloop_measurer::{Layout, Operation, Outcome, Recorder};
use openloop_postgres::{Connections, Postgres, Request, Statement, Tls};
use openloop_testbed::{Certificate, Postgres as Server};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test]
async fn errors_of_the_server_are_told_apart_and_leave_the_connection_usable() {
    let postgres = client(Connections::pool(1));
    server()
        .sql("CREATE TABLE unique_ones (id int PRIMARY KEY)")
        .unwrap();
    let insert = Statement::new("INSERT INTO unique_ones VALUES ($1)");
    postgres.call(insert.with([1.into()])).await.unwrap();
    for (request, expected) in [
        (insert.with([1.into()]), "pg_23505"),
        (insert.with([]), "parameter"),
        (insert.with([5_000_000_000_i64.into()]), "parameter"),
        (insert.with(["one".into()]), "pg_22P02"),
        (Request::simple("SELECT * FROM nowhere"), "pg_42P01"),
        (Request::simple("SELEKT 1"), "pg_42601"),
        (
            Request::simple("SET statement_timeout = 1; SELECT pg_sleep(9)"),
            "pg_57014",
        ),
    ] {
        assert_eq!(class(&postgres, request).await, expected);
    }
    assert_eq!(postgres.sockets().opened(), 1);
}

#[tokio::test]
async fn a_server_with_too_many_connections_rejects() {
    let small = Server::builder()
        .setting("max_connections", 5)
        .setting("superuser_reserved_connections", 0)
        .start()
        .unwrap();
    let (postgres, _) = named(&small).with(Connections::pool(5));
    postgres.prepare().await.unwrap();
    let (more, _) = named(&small).with(Connections::PerRequest);
    assert_eq!(more.prepare().await.unwrap_err().class(), "pg_53300");
    let layout = Layout::steady_only(Duration::from_secs(3600)).unwrap();
    let recorder = Recorder::new(Instant::now(), layout);
    let ask = async |seq| {
        let arrival = recorder.arrive_at(seq, Instant::now());
        let call = more.call(Request::simple("SELECT 1"));
        arrival.measure(call).await.1.outcome
    };
    for seq in 0..20 {
        assert_eq!(ask(seq).await, Outcome::Rejected("pg_53300"));
    }
    drop(postgres);
    // The server's processes end a moment after their connections.
    let mut sent = 21;
    while ask(sent - 1).await != Outcome::Ok {
        sent += 1;
    }
    let counts = recorder.counts();
    assert_eq!(
        (counts.scheduled, counts.ok, counts.rejected),
        (sent, 1, sent - 1)
    );
}

#[tokio::test]
async fn passwords_are_asked_for_and_never_shown() {
    let guarded = Server::builder().password("s3cret").start().unwrap();
    let right = Postgres::builder(&guarded.dsn()).build().unwrap();
    right.call(Request::simple("SELECT 1")).await.unwrap();
    for (dsn, expected) in [
        (guarded.dsn().replace("s3cret", "wr0ng"), "pg_28P01"),
        (guarded.dsn().replace(":s3cret", ""), "authentication"),
        (format!("{}_not", guarded.dsn()), "pg_3D000"),
    ] {
        let error = Postgres::builder(&dsn)
            .build()
            .unwrap()
            .prepare()
            .await
            .unwrap_err();
        assert_eq!(error.class(), expected, "{error}");
        assert!(!format!("{error} {error:?}").contains("wr0ng"));
    }
}

#[tokio::test]
async fn what_cannot_be_connected_to_is_known_before_any_load() {
    let nobody = Postgres::builder("postgres://u@127.0.0.1:1/d")
        .build()
        .unwrap();
    assert_eq!(
        nobody.prepare().await.unwrap_err().class(),
        "connect_refused"
    );
    // Accepts, and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dsn = format!("postgres://u@{}/d", silent.local_addr().unwrap());
    let limit = Duration::from_millis(50);
    let silent = Postgres::builder(&dsn)
        .connect_timeout(limit)
        .build()
        .unwrap();
    let error = silent.prepare().await.unwrap_err();
    assert_eq!(error.class(), "connect_timeout");
    assert!(error.to_string().contains("50ms"), "{error}");
}

#[tokio::test]
async fn tls_is_spoken_where_it_is_asked_for_and_nowhere_else() {
    let secure = Server::builder().tls(Certificate::Trusted).start().unwrap();
    let encrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let builder = || Postgres::builder(&secure.dsn()).connections(Connections::pool(1));
    let plain = builder().build().unwrap();
    assert_eq!(crate::text(&plain, encrypted).await, "f");
    let tls = Tls::roots_from_pem(secure.ca_pem().unwrap());
    let trusting = builder().tls(tls.clone()).build().unwrap();
    let stages = *trusting
        .call(Request::simple("SELECT 1"))
        .await
        .unwrap()
        .stages();
    assert!(stages.dial.tls.is_some() && stages.startup.is_some());
    assert_eq!(crate::text(&trusting, encrypted).await, "t");
    // Cancelling takes a connection of its own, over TLS as well.
    let endless = trusting.call(Request::simple("SELECT pg_sleep(600)"));
    assert!(tokio::time::timeout(limit(), endless).await.is_err());
    assert_eq!(crate::text(&trusting, "SELECT 1").await, "1");
    assert_eq!(trusting.sockets().opened(), 1);

    let require = format!("{}?sslmode=require", secure.dsn());
    let unknown = Postgres::builder(&require).build().unwrap();
    assert_eq!(
        unknown.prepare().await.unwrap_err().class(),
        "tls_certificate"
    );
    let refused = Postgres::builder(&server().dsn()).tls(tls).build().unwrap();
    let error = refused.prepare().await.unwrap_err();
    assert_eq!(error.class(), "tls", "{error}");
}

fn limit() -> Duration {
    Duration::from_millis(50)
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let elsewhere = Server::builder()
        .tls(Certificate::WrongHost)
        .start()
        .unwrap();
    let tls = Tls::roots_from_pem(elsewhere.ca_pem().unwrap());
    let postgres = Postgres::builder(&elsewhere.dsn())
        .tls(tls)
        .build()
        .unwrap();
    assert_eq!(
        postgres.prepare().await.unwrap_err().class(),
        "tls_certificate"
    );
}
