//! `loadgen postgres`.

mod args;
mod mix;
mod requests;
mod sql;

pub(crate) use args::PostgresArgs;

use crate::arrivals::Replay;
use crate::command::without_password;
use crate::connections::{HEALTH, PROBES, reached};
use crate::exit::Failure;
use crate::kinds;
use crate::protocol::{Connecting, Observed, Protocol, share, steady};
use mix::SqlMix;
use openloop_experiment::drive::{Monitor, ShardOf};
use openloop_experiment::{Rtt, Work, labelled};
use openloop_measurer::{Kind, Operation};
use openloop_postgres::{Connections, Postgres, PostgresError, Request};
use openloop_sched::Ticket;
use requests::Requests;
use std::future::Future;
use std::sync::Arc;

/// A PostgreSQL server, and what is asked of it.
#[derive(Debug)]
pub(crate) struct PostgresLoad {
    arguments: PostgresArgs,
    /// The connection string without its password.
    target: String,
    requests: Requests,
    host: String,
    port: u16,
}

impl PostgresLoad {
    /// # Errors
    /// When the flags do not make a request: all that can be told without a connection.
    pub(crate) fn new(arguments: &PostgresArgs, replay: Option<&Replay>) -> Result<Self, Failure> {
        arguments.check().map_err(Failure::Usage)?;
        let trace = kinds::rows(replay, &arguments.load);
        let mut load = PostgresLoad {
            arguments: arguments.clone(),
            target: without_password(&arguments.dsn),
            requests: Requests::new(arguments, trace).map_err(Failure::Usage)?,
            host: String::new(),
            port: 0,
        };
        let of_mix = load.requests.mix().into_iter().flat_map(SqlMix::keys);
        let keys = arguments.keys.iter().chain(of_mix);
        kinds::check_order(keys, &arguments.load).map_err(Failure::Usage)?;
        let is_shared = arguments.pipeline > 1;
        if is_shared && load.requests.mix().is_some_and(SqlMix::has_transactions) {
            return Err(Failure::Usage(args::NO_TRANSACTION.to_owned()));
        }
        let client = load.client(None)?;
        let (host, port) = client.server();
        (load.host, load.port) = (host.to_owned(), port);
        Ok(load)
    }

    fn seed(&self) -> u64 {
        self.arguments.load.schedule.seed
    }

    /// The client of one shard, or one for everything.
    fn client(&self, shard: Option<ShardOf>) -> Result<Postgres, Failure> {
        let arguments = &self.arguments;
        let part = |total| shard.map_or(total, |shard| share(total, shard));
        let connections = match self.connecting() {
            Connecting::Pool(size) => Connections::Pool {
                size: part(size),
                waiting: arguments.line.map_or(usize::MAX, part),
            },
            Connecting::PerRequest => Connections::PerRequest,
            Connecting::PerInFlight => Connections::PerInFlight,
        };
        let mut client = Postgres::builder(&arguments.dsn)
            .connections(connections)
            .pipeline(arguments.pipeline)
            .retries(arguments.retries);
        for statement in self.requests.statements() {
            client = client.prepare(statement);
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
        let depth = match arguments.pipeline {
            1 => String::new(),
            depth => format!(", {depth} requests on each"),
        };
        let (target, connections) = (&self.target, self.connecting().shown());
        let to = format!("at {target} over {connections}{depth}");
        match (self.requests.mix(), arguments.query.as_slice()) {
            (Some(mix), _) => mix.describe(&to),
            (None, [one]) => format!("{one} {to}"),
            (None, several) => format!("a transaction of {} statements {to}", several.len()),
        }
    }

    fn kinds(&self) -> Vec<&str> {
        self.requests
            .mix()
            .into_iter()
            .flat_map(SqlMix::names)
            .collect()
    }

    fn kind(&self, seq: u64) -> Option<usize> {
        Some(self.requests.mix()?.pick(self.seed(), seq).0)
    }

    fn asked(&self, numbers: &[u64]) -> Vec<String> {
        let asked = |seq: &u64| format!("{:?}", self.requests.of(self.seed(), *seq));
        numbers.iter().map(asked).collect()
    }

    fn stages(&self) -> &'static [&'static str] {
        &[
            "acquire",
            "dns",
            "connect",
            "tls",
            "startup",
            "prepare",
            "first_row",
            "all_rows",
        ]
    }

    fn connecting(&self) -> Connecting {
        let per_request = self.arguments.connect_per_request;
        self.arguments.connections.connecting(per_request)
    }

    async fn connect(self: Arc<Self>, shard: ShardOf) -> Result<impl Work, Failure> {
        let client = self.client(Some(shard))?;
        self.prepare(&client, self.connecting().set_up_limit())
            .await?;
        let load = Arc::clone(&self);
        let work = move |ticket: Ticket| {
            let request = load.requests.of(load.seed(), ticket.seq);
            let client = client.clone();
            async move { client.call(request).await }
        };
        let kind = move |ticket: Ticket| self.kind(ticket.seq).map(Kind::new);
        Ok(labelled(work, kind))
    }

    /// A query of no statement.
    async fn round_trip(self: Arc<Self>) -> Option<Rtt> {
        let client = self.client(None).ok()?;
        let no_op = async || client.call(Request::simple("")).await.map(drop);
        let probe = Rtt::probe(PROBES, no_op);
        tokio::time::timeout(HEALTH, probe).await.ok()?.ok()
    }

    fn health(self: Arc<Self>) -> impl Future<Output = Result<(), String>> + Send {
        // A connection and no query: the server has been asked exactly what was planned.
        let client = self.client(None);
        async move {
            let client = client.map_err(|failure| failure.to_string())?;
            reached(async { client.monitor().await.map(drop) }).await
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
