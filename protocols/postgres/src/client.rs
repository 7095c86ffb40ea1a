//! The client.

use crate::engine::Engine;
use crate::{Builder, Monitor, PostgresError, Reply, Request, Row};
use openloop_measurer::Operation;
use openloop_net::SocketCounts;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

/// A PostgreSQL client for one server, as an [`Operation`]: it shows every wait on our side of the wire.
///
/// Cloning is cheap; clones share the connections.
///
/// ```
/// # use openloop_measurer::Operation;
/// # use openloop_postgres::{Connections, Postgres, Statement};
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let balance = Statement::new("SELECT abalance FROM pgbench_accounts WHERE aid = $1");
/// let postgres = Postgres::builder("postgres://postgres@127.0.0.1:5432/postgres")
///     .connections(Connections::Pool { size: 8, waiting: 100 })
///     .prepare(&balance)
///     .build()?;
/// postgres.prepare().await?; // opens the connections: what cannot be reached is known before any load
/// let reply = postgres.call(balance.with([4711.into()])).await?;
/// println!("{} rows after {:?}", reply.stages().rows, reply.stages().first_row);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Postgres(Arc<Inner>);

struct Inner {
    engine: Engine,
    host: String,
    port: u16,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The rest knows the password.
        f.debug_struct("Postgres")
            .field("host", &self.0.host)
            .field("port", &self.0.port)
            .finish_non_exhaustive()
    }
}

impl Postgres {
    /// Starts a client for the server of a connection string, `postgres://user:password@host:port/database` or
    /// `host=… port=… user=…`.
    pub fn builder(dsn: &str) -> Builder {
        Builder::new(dsn)
    }

    pub(crate) fn new(engine: Engine, host: String, port: u16) -> Self {
        Postgres(Arc::new(Inner { engine, host, port }))
    }

    /// The host and port of the server.
    #[must_use]
    pub fn server(&self) -> (&str, u16) {
        (&self.0.host, self.0.port)
    }

    /// Opens the connections before the run starts and prepares the statements that the builder knows, so that neither
    /// is part of it: all connections of a pool, and otherwise one, to see that it can be done.
    ///
    /// # Errors
    ///
    /// The first failure: an unreachable host, a wrong password or a statement that the server does not understand is
    /// known before any load.
    pub async fn prepare(&self) -> Result<(), PostgresError> {
        self.0.engine.prepare().await
    }

    /// Sockets opened, closed and used again by this client, [`prepare`](Self::prepare) included; those that ask the
    /// server to cancel a query are not among them.
    #[must_use]
    pub fn sockets(&self) -> &SocketCounts {
        self.0.engine.common.opener.dialer.counts()
    }

    /// Opens a connection beside the others to watch the server over.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened.
    pub async fn monitor(&self) -> Result<Monitor, PostgresError> {
        Monitor::open(&self.0.engine.common.canceller).await
    }

    /// Like [`call`](Operation::call), and shows each row to `on_row` as it arrives.
    ///
    /// What `on_row` takes is part of the call, in its stage `all_rows`.
    ///
    /// # Errors
    ///
    /// As for [`call`](Operation::call).
    pub async fn call_with(
        &self,
        request: Request,
        mut on_row: impl FnMut(Row<'_>) + Send,
    ) -> Result<Reply, PostgresError> {
        self.0.engine.call(&request, &mut on_row).await
    }
}

impl Operation for Postgres {
    type Request = Request;
    type Reply = Reply;
    type Error = PostgresError;

    fn call(&self, request: Request) -> impl Future<Output = Result<Reply, PostgresError>> + Send {
        self.call_with(request, |_| {})
    }
}
