//! What can be asked, and how many round trips it takes.

use crate::{class, client, server, text};
use bytes::Bytes;
use openloop_measurer::Operation;
use openloop_postgres::tokio_postgres::types::Type;
use openloop_postgres::{Connections, Request, Row, Statement, Value};
use std::time::Duration;

const ONE: Connections = Connections::pool(1);

#[tokio::test]
async fn a_statement_is_prepared_once_on_each_connection() {
    let postgres = client(ONE);
    let statement = Statement::new("SELECT $1::int4");
    let first = postgres.call(statement.with([1.into()])).await.unwrap();
    assert!(first.stages().prepare.is_some());
    // The same text is the same statement.
    for again in [statement, Statement::new("SELECT $1::int4")] {
        let reply = postgres.call(again.with([2.into()])).await.unwrap();
        assert_eq!(reply.stages().prepare, None);
    }
    let prepared = "SELECT count(*) FROM pg_prepared_statements";
    assert_eq!(text(&postgres, prepared).await, "1");
    postgres
        .call(Request::typed("SELECT $1", [(3.into(), Type::INT4)]))
        .await
        .unwrap();
    assert_eq!(text(&postgres, prepared).await, "1");
}

#[tokio::test]
async fn a_statement_known_to_the_builder_is_prepared_before_the_run() {
    let statement = Statement::new("SELECT $1::int4");
    let builder = crate::named(server()).builder.connections(ONE);
    let postgres = builder.prepare(&statement).build().unwrap();
    postgres.prepare().await.unwrap();
    let stages = *postgres
        .call(statement.with([1.into()]))
        .await
        .unwrap()
        .stages();
    assert_eq!(
        (stages.prepare, stages.opened, stages.reused),
        (None, 0, true)
    );

    let wrong = Statement::new("SELECT nothing FROM nowhere");
    let builder = crate::named(server()).builder.connections(ONE);
    let refused = builder.prepare(&wrong).build().unwrap().prepare().await;
    assert_eq!(refused.unwrap_err().class(), "pg_42P01");
}

#[tokio::test]
async fn what_cannot_be_prepared_is_not_sent() {
    let postgres = client(ONE);
    let wrong = Statement::new("SELECT nothing FROM nowhere").with([]);
    let right = Statement::new("SELECT 1").with([]);
    for request in [wrong.clone(), Request::transaction([right, wrong])] {
        let error = postgres.call(request).await.unwrap_err();
        let stages = error.stages();
        assert_eq!(error.class(), "pg_42P01");
        assert!(stages.prepare.is_some());
        assert_eq!((stages.first_row, stages.all_rows), (None, None));
        assert_eq!(stages.statements, 0);
    }
}

#[tokio::test]
async fn rows_and_their_bytes_are_counted_and_changes_apart_from_them() {
    let postgres = client(ONE);
    let series = Statement::new("SELECT i FROM generate_series(1, $1::int8) AS i");
    let mut bytes = Vec::new();
    for rows in [0_u64, 1, 1000] {
        let stages = *postgres
            .call(series.with([rows.into()]))
            .await
            .unwrap()
            .stages();
        assert_eq!((stages.rows, stages.affected), (rows, 0));
        bytes.push(stages.bytes);
    }
    assert!(bytes[1] >= 8);
    assert_eq!((bytes[0], bytes[2]), (0, 1000 * bytes[1]));
    server()
        .sql("CREATE TABLE counted AS SELECT i FROM generate_series(1, 10) i")
        .unwrap();
    let update = Request::simple("UPDATE counted SET i = -i WHERE i <= 4; SELECT * FROM counted");
    let stages = *postgres.call(update).await.unwrap().stages();
    assert_eq!((stages.affected, stages.rows), (4, 10));
    let delete = Statement::new("DELETE FROM counted WHERE i < $1").with([0.into()]);
    assert_eq!(postgres.call(delete).await.unwrap().stages().affected, 4);
}

#[tokio::test]
async fn the_stages_add_up_to_the_call() {
    let postgres = client(ONE);
    let wait = Duration::from_millis(30);
    let begun = tokio::time::Instant::now();
    let reply = postgres
        .call(Request::simple("SELECT pg_sleep(0.03)"))
        .await
        .unwrap();
    let taken = begun.elapsed();
    let stages = reply.stages();
    let dial = stages.dial.total() + stages.startup.unwrap();
    let sum = stages.acquire + dial + stages.first_row.unwrap() + stages.all_rows.unwrap();
    assert!(
        sum <= taken && stages.first_row.unwrap() >= wait,
        "{stages:?}"
    );
    // What lies between the stages is not time: tens of microseconds, or a busy machine's doing.
    assert!(taken - sum < wait / 3, "{taken:?} {stages:?}");
}

#[tokio::test]
async fn a_value_takes_the_type_of_its_place_and_is_never_part_of_the_sql() {
    let postgres = client(ONE);
    let statement = Statement::new(
        "SELECT concat_ws('|', $1::int2, $2::numeric, $3::text, $4::uuid, $5::float4, $6::bool, $7::bytea, $8::int4)",
    );
    let evil = "'; DROP TABLE x; --";
    let id = "123e4567-e89b-12d3-a456-426614174000";
    let values: [Value; 8] = [
        7.into(),
        8.into(),
        evil.into(),
        id.into(),
        1.5.into(),
        true.into(),
        vec![1, 2].into(),
        Value::Null,
    ];
    let mut found = String::new();
    let on_row = |row: Row<'_>| {
        if let Row::Typed(row) = row {
            found = row.get(0);
        }
    };
    postgres
        .call_with(statement.with(values), on_row)
        .await
        .unwrap();
    assert_eq!(found, format!("7|8|{evil}|{id}|1.5|t|\\x0102"));
}

#[tokio::test]
async fn a_transaction_is_done_whole_or_not_at_all() {
    let postgres = client(ONE);
    server()
        .sql("CREATE TABLE ledger (id int PRIMARY KEY)")
        .unwrap();
    let insert = Statement::new("INSERT INTO ledger VALUES ($1)");
    let both =
        |a: i32, b: i32| Request::transaction([insert.with([a.into()]), insert.with([b.into()])]);
    let stages = *postgres.call(both(1, 2)).await.unwrap().stages();
    assert_eq!((stages.statements, stages.affected), (2, 2));
    assert_eq!(class(&postgres, both(3, 2)).await, "pg_23505");
    // Over the same connection, which is in no transaction any more.
    assert_eq!(text(&postgres, "SELECT sum(id) FROM ledger").await, "3");
    assert_eq!(postgres.sockets().opened(), 1);
    let serializable = Request::transaction_as(
        "BEGIN ISOLATION LEVEL SERIALIZABLE",
        [Request::simple("SHOW transaction_isolation")],
    );
    let mut level = String::new();
    let on_row = |row: Row<'_>| {
        if let Row::Simple(row) = row {
            level = row.get(0).unwrap().to_owned();
        }
    };
    postgres.call_with(serializable, on_row).await.unwrap();
    assert_eq!(level, "serializable");
}

#[tokio::test]
async fn a_lost_serialization_conflict_is_counted_and_run_again_where_that_was_asked() {
    server()
        .sql("CREATE TABLE contended AS SELECT 1 AS id, 0 AS n")
        .unwrap();
    for retries in [0, 1] {
        let builder = crate::named(server()).builder.connections(ONE);
        let postgres = builder.retries(retries).build().unwrap();
        let request = Request::transaction_as(
            "BEGIN ISOLATION LEVEL REPEATABLE READ",
            [
                Statement::new("SELECT n FROM contended").with([]),
                Statement::new("UPDATE contended SET n = n + 1").with([]),
            ],
        );
        // Between the two statements of the first try somebody else changes the row.
        let mut tries = 0;
        let on_row = |_: Row<'_>| {
            tries += 1;
            if tries == 1 {
                server().sql("UPDATE contended SET n = n + 10").unwrap();
            }
        };
        let done = postgres.call_with(request, on_row).await;
        match retries {
            0 => assert_eq!(done.unwrap_err().class(), "pg_40001"),
            _ => assert_eq!(done.unwrap().stages().retries, 1),
        }
    }
    assert_eq!(server().sql("SELECT n FROM contended").unwrap(), "21");
}

#[tokio::test]
async fn a_failed_text_of_several_statements_leaves_no_transaction_open() {
    let postgres = client(ONE);
    let failing = Request::simple("BEGIN; SELECT 1/0; COMMIT");
    assert_eq!(class(&postgres, failing).await, "pg_22xxx");
    assert_eq!(text(&postgres, "SELECT 2").await, "2");
    assert_eq!(postgres.sockets().opened(), 1);
}

#[tokio::test]
async fn data_are_copied_in() {
    let postgres = client(ONE);
    server()
        .sql("CREATE TABLE copied (id int, name text)")
        .unwrap();
    let copy = Statement::new("COPY copied FROM STDIN");
    let chunks = ["1\tone\n2\ttw", "o\n3\tthree\n"].map(Bytes::from);
    let stages = *postgres
        .call(Request::copy_in(&copy, chunks))
        .await
        .unwrap()
        .stages();
    assert_eq!((stages.affected, stages.copied_bytes), (3, 20));
    assert_eq!(
        text(
            &postgres,
            "SELECT string_agg(name, ' ' ORDER BY id) FROM copied"
        )
        .await,
        "one two three"
    );
    let bad = [Bytes::from_static(b"x\ty\n")];
    assert_eq!(
        class(&postgres, Request::copy_in(&copy, bad)).await,
        "pg_22P02"
    );
    assert_eq!(text(&postgres, "SELECT count(*) FROM copied").await, "3");
}
