//! `loadgen postgres`.

mod args;
mod sql;

pub(crate) use args::PostgresArgs;

use crate::command::without_password;
use crate::exit::Failure;
use crate::protocol::{Connecting, HEALTH, Observed, Protocol, set_up_limit, share, steady};
use openloop_experiment::Work;
use openloop_experiment::drive::{Monitor, ShardOf};
use openloop_postgres::{Connections, Postgres, PostgresError, Request, Statement, Value};
use openloop_sched::Ticket;
use openloop_workload::Keys;
use std::future::Future;
use std::sync::Arc;

/// A PostgreSQL server, and what is asked of it.
#[derive(Debug)]
pub(crate) struct PostgresLoad {
    arguments: PostgresArgs,
    /// The connection string without its password.
    target: String,
    requests: Arc<Requests>,
    host: String,
    port: u16,
}

/// Request number `seq`, the same whoever sends it.
#[derive(Debug)]
struct Requests {
    /// In order; several are one transaction.
    queries: Vec<Query>,
    keys: Option<(Keys, u64)>,
}

#[derive(Debug)]
struct Query {
    statement: Statement,
    /// Whether its one parameter is the key.
    has_key: bool,
    is_simple: bool,
}

impl Requests {
    fn new(arguments: &PostgresArgs) -> Result<Self, String> {
        let mut queries = Vec::new();
        for text in &arguments.query {
            let (sql, has_key) = sql::bind(text)?;
            if has_key && arguments.simple {
                return Err(format!(
                    "{text:?} has a parameter, which the simple protocol cannot carry: leave out --simple"
                ));
            }
            queries.push(Query {
                statement: Statement::new(sql),
                has_key,
                is_simple: arguments.simple,
            });
        }
        let is_used = queries.iter().any(|query| query.has_key);
        match (arguments.keys, is_used) {
            (Some(keys), false) => Err(format!(
                "--keys {keys} has no effect: write {{key}} in a --query"
            )),
            (None, true) => Err(
                "{key} stands in a query and nothing says which keys there are: give --keys uniform:N or zipf:N:S"
                    .to_owned(),
            ),
            (keys, _) => Ok(Requests {
                queries,
                keys: keys.map(|keys| (keys, arguments.load.schedule.seed)),
            }),
        }
    }

    fn of(&self, seq: u64) -> Request {
        let key = self.keys.map(|(keys, seed)| keys.key(seed, seq));
        let request = |query: &Query| {
            if query.is_simple {
                return Request::simple(query.statement.sql());
            }
            let key = key.filter(|_| query.has_key).map(Value::from);
            query.statement.with(key)
        };
        match self.queries.as_slice() {
            [one] => request(one),
            several => Request::transaction(several.iter().map(request)),
        }
    }
}

impl PostgresLoad {
    /// # Errors
    /// When the flags do not make a request: all that can be told without a connection.
    pub(crate) fn new(arguments: &PostgresArgs) -> Result<Self, Failure> {
        arguments.check().map_err(Failure::Usage)?;
        let mut load = PostgresLoad {
            arguments: arguments.clone(),
            target: without_password(&arguments.dsn),
            requests: Arc::new(Requests::new(arguments).map_err(Failure::Usage)?),
            host: String::new(),
            port: 0,
        };
        let client = load.client(None)?;
        let (host, port) = client.server();
        (load.host, load.port) = (host.to_owned(), port);
        Ok(load)
    }

    /// The client of one shard, or one for everything.
    fn client(&self, shard: Option<ShardOf>) -> Result<Postgres, Failure> {
        let arguments = &self.arguments;
        let part = |total| shard.map_or(total, |shard| share(total, shard));
        let connections = match self.connecting() {
            Connecting::Pool(size) => Connections::Pool {
                size: part(size),
                waiting: arguments.waiting.map_or(usize::MAX, part),
            },
            Connecting::PerRequest => Connections::PerRequest,
            Connecting::PerInFlight => Connections::PerInFlight,
        };
        let mut client = Postgres::builder(&arguments.dsn)
            .connections(connections)
            .pipeline(arguments.pipeline)
            .retries(arguments.retries);
        if !arguments.simple {
            for query in &self.requests.queries {
                client = client.prepare(&query.statement);
            }
        }
        if let Some(tls) = arguments.tls().map_err(Failure::Usage)? {
            client = client.tls(tls);
        }
        client.build().map_err(Failure::usage)
    }

    /// Opens the connections within a limit.
    async fn prepare(&self, client: &Postgres, limit: std::time::Duration) -> Result<(), Failure> {
        let unreachable =
            |why: String| Failure::Unreachable(format!("{} cannot be used: {why}", self.target));
        match tokio::time::timeout(limit, client.prepare()).await {
            Ok(prepared) => prepared.map_err(|error| self.blame(&error)),
            Err(_) => Err(unreachable(format!("no connection within {limit:?}"))),
        }
    }

    /// Whose fault it is that no connection could be opened, or no statement prepared.
    fn blame(&self, error: &PostgresError) -> Failure {
        let text = format!("{} cannot be used: {error}", self.target);
        match error.class() {
            class if class.starts_with("client") => Failure::Machine(text),
            // The server knows the query better than any check here.
            class if class.starts_with("pg_42") => Failure::Usage(text),
            _ => Failure::Unreachable(text),
        }
    }
}

impl Protocol for PostgresLoad {
    fn endpoint(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    fn target(&self) -> &str {
        &self.target
    }

    fn describe(&self) -> String {
        let arguments = &self.arguments;
        let what = match arguments.query.as_slice() {
            [one] => one.clone(),
            several => format!("a transaction of {} statements", several.len()),
        };
        let depth = match arguments.pipeline {
            1 => String::new(),
            depth => format!(", {depth} requests on each"),
        };
        format!(
            "{what} at {} over {}{depth}",
            self.target,
            self.connecting()
        )
    }

    fn kinds(&self) -> Vec<&str> {
        Vec::new()
    }

    fn kind(&self, _: u64) -> Option<usize> {
        None
    }

    fn connecting(&self) -> Connecting {
        let arguments = &self.arguments;
        arguments
            .connections
            .connecting(arguments.connect_per_request)
    }

    async fn connect(self: Arc<Self>, shard: ShardOf) -> Result<impl Work, Failure> {
        let client = self.client(Some(shard))?;
        self.prepare(&client, set_up_limit(self.connecting()))
            .await?;
        let requests = Arc::clone(&self.requests);
        Ok(move |ticket: Ticket| {
            let (client, request) = (client.clone(), requests.of(ticket.seq));
            async move { client.call_with(request, |_| {}).await }
        })
    }

    fn health(self: Arc<Self>) -> impl Future<Output = Result<(), String>> + Send {
        // A connection and no query: the server has been asked exactly what was planned.
        let client = self.client(None);
        async move {
            let client = client.map_err(|failure| failure.to_string())?;
            match tokio::time::timeout(HEALTH, client.monitor()).await {
                Ok(opened) => opened.map(drop).map_err(|error| error.to_string()),
                Err(_) => Err(format!("no connection within {HEALTH:?} after the run")),
            }
        }
    }

    /// How much of what was asked the server had in its buffer pool.
    async fn observe(self: Arc<Self>, run: Monitor) -> Vec<Observed> {
        let Ok(client) = self.client(None) else {
            return Vec::new();
        };
        let Ok(mut server) = client.monitor().await else {
            return Vec::new();
        };
        let (begins, ends) = steady(&run);
        begins.await;
        let Ok(before) = server.buffers().await else {
            return Vec::new();
        };
        ends.await;
        let Ok(after) = server.buffers().await else {
            return Vec::new();
        };
        let window = after.since(before);
        let rate = window.hit_rate().map(|rate| ("buffer_hit_rate", rate));
        #[expect(clippy::cast_precision_loss, reason = "far from 2^53 blocks")]
        let read = ("buffer_blocks_read", window.read as f64);
        rate.into_iter().chain([read]).collect()
    }
}
