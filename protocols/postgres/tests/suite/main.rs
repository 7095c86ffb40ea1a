//! The adapter against a real server.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod connections;
mod dropped;
mod faults;
mod outcomes;
mod queries;
mod recorded;
mod user_pools;

use openloop_measurer::Operation;
use openloop_postgres::{Builder, Connections, Postgres, Request, Row, Statement};
use openloop_testbed::Postgres as Server;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A server for all tests that do it no harm. It ends with the process.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start().unwrap())
}

/// A client with a name of its own, under which the server lists its connections.
struct Named {
    name: String,
    builder: Builder,
}

fn named(server: &Server) -> Named {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("client_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let dsn = format!("{}?application_name={name}", server.dsn());
    Named {
        builder: Postgres::builder(&dsn),
        name,
    }
}

impl Named {
    fn with(self, connections: Connections) -> (Postgres, String) {
        (
            self.builder.connections(connections).build().unwrap(),
            self.name,
        )
    }
}

/// A client of the common server.
fn client(connections: Connections) -> Postgres {
    named(server()).with(connections).0
}

/// How many connections of that name the server has, in this state if one is given.
fn backends(server: &Server, name: &str, state: &str) -> u32 {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}' AND state LIKE '{state}'"
    );
    server.sql(&sql).unwrap().parse().unwrap()
}

/// The first column of the first row of an answer by the simple protocol.
async fn text(postgres: &Postgres, sql: &str) -> String {
    let mut found = None;
    let on_row = |row: Row<'_>| {
        if let Row::Simple(row) = row {
            found = row.get(0).map(ToOwned::to_owned);
        }
    };
    postgres
        .call_with(Request::simple(sql), on_row)
        .await
        .unwrap();
    found.unwrap()
}

/// Sleeps on the server and gives its parameter back, so that an answer names its request.
fn sleep() -> Statement {
    Statement::new("SELECT pg_sleep($2), $1::int8")
}

/// The number in the answer to a [`sleep`].
async fn number(postgres: &Postgres, request: Request) -> Option<i64> {
    let mut found = None;
    let on_row = |row: Row<'_>| {
        if let Row::Typed(row) = row {
            found = Some(row.get(1));
        }
    };
    postgres.call_with(request, on_row).await.ok()?;
    found
}

async fn class(postgres: &Postgres, request: Request) -> &'static str {
    postgres.call(request).await.unwrap_err().class()
}
