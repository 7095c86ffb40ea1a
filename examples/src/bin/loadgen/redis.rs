//! `loadgen redis`.

mod args;
mod command;
mod mix;
mod requests;

pub(crate) use args::RedisArgs;
pub(crate) use mix::{RedisMix, read as read_mix};

use crate::arrivals::Replay;
use crate::command::without_password;
use crate::connections::{HEALTH, PROBES, reached};
use crate::exit::Failure;
use crate::kinds;
use crate::protocol::{Connecting, Protocol, share};
use openloop_experiment::drive::ShardOf;
use openloop_experiment::{Rtt, Work, labelled};
use openloop_measurer::{Kind, Operation};
use openloop_redis::{BuildError, Connections, Redis, RedisError, Request};
use openloop_sched::Ticket;
use requests::{CallError, Requests};
use std::future::Future;
use std::sync::Arc;

/// A Redis server or cluster, and what is asked of it.
#[derive(Debug)]
pub(crate) struct RedisLoad {
    arguments: RedisArgs,
    /// The URL without what is secret in it.
    target: String,
    host: String,
    port: u16,
    mix: Option<Arc<RedisMix>>,
    requests: Requests,
}

impl RedisLoad {
    /// # Errors
    /// When the flags do not make a request: all that can be told without a connection.
    pub(crate) fn new(arguments: &RedisArgs, replay: Option<&Replay>) -> Result<Self, Failure> {
        arguments.check().map_err(Failure::Usage)?;
        let trace = kinds::rows(replay, &arguments.load);
        let mix = arguments.mix(trace).map_err(Failure::Usage)?;
        let keys = mix.iter().flat_map(RedisMix::keys);
        let keys = arguments.keys.iter().chain(keys);
        kinds::check_order(keys, &arguments.load).map_err(Failure::Usage)?;
        let mix = mix.map(Arc::new);
        let requests = Requests::new(arguments, mix.clone()).map_err(Failure::Usage)?;
        let mut load = RedisLoad {
            arguments: arguments.clone(),
            target: without_password(&arguments.url),
            host: String::new(),
            port: 0,
            mix,
            requests,
        };
        let client = load.client(load.connections(1))?;
        let first = load.requests.first().map_err(Failure::usage)?;
        for request in &first {
            client.check(request).map_err(Failure::usage)?;
        }
        let (host, port) = client.endpoint();
        (load.host, load.port) = (host.to_owned(), port);
        Ok(load)
    }

    fn client(&self, connections: Connections) -> Result<Redis, Failure> {
        let mut client = Redis::builder(&self.arguments.url).connections(connections);
        if self.arguments.cluster {
            client = client.cluster();
        }
        if let Some(tls) = self.arguments.tls().map_err(Failure::Usage)? {
            client = client.tls(tls);
        }
        client
            .build()
            .map_err(|error: BuildError| Failure::usage(error))
    }

    /// The connections of a client that has `size` of them, where their number is fixed.
    fn connections(&self, size: usize) -> Connections {
        match (self.connecting(), self.arguments.depth) {
            (Connecting::Pool(_), Some(depth)) => Connections::pipelined(size, depth.0),
            (Connecting::Pool(_), None) => Connections::pool(size),
            (Connecting::PerRequest, _) => Connections::PerRequest,
            (Connecting::PerInFlight, _) => Connections::PerInFlight,
        }
    }

    fn unreachable(&self, why: impl std::fmt::Display) -> Failure {
        Failure::Unreachable(format!("{} cannot be reached: {why}", self.target))
    }

    /// Whose fault it is that no connection could be opened.
    fn blame(&self, error: &RedisError) -> Failure {
        if error.class().starts_with("client") {
            return Failure::Machine(error.to_string());
        }
        self.unreachable(error)
    }
}

impl Protocol for RedisLoad {
    fn endpoint(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    fn target(&self) -> &str {
        &self.target
    }

    fn describe(&self) -> String {
        let arguments = &self.arguments;
        let mut connections = self.connecting().shown();
        if let Some(depth) = arguments.depth {
            let depth = match depth.0 {
                usize::MAX => "any number of requests".to_owned(),
                depth => format!("up to {depth} requests"),
            };
            connections = format!("{connections} with {depth} on each at once");
        }
        if arguments.cluster {
            connections.push_str(" to each node");
        }
        let Some(mix) = &self.mix else {
            let command = arguments.command.as_deref().unwrap_or_default();
            let times = match arguments.pipeline {
                1 => String::new(),
                times => format!("{times} times "),
            };
            return format!("{times}{command} to {} over {connections}", self.target);
        };
        mix.describe(&format!("to {} over {connections}", self.target))
    }

    fn kinds(&self) -> Vec<&str> {
        self.mix.iter().flat_map(|mix| mix.names()).collect()
    }

    fn kind(&self, seq: u64) -> Option<usize> {
        let mix = self.mix.as_ref()?;
        Some(mix.pick(self.arguments.load.schedule.seed, seq).0)
    }

    fn asked(&self, numbers: &[u64]) -> Vec<String> {
        let asked = |seq: &u64| format!("{:?}", self.requests.of(*seq));
        numbers.iter().map(asked).collect()
    }

    fn stages(&self) -> &'static [&'static str] {
        &["acquire", "dns", "connect", "tls", "setup", "reply"]
    }

    fn connecting(&self) -> Connecting {
        let per_request = self.arguments.connect_per_request;
        self.arguments.connections.connecting(per_request)
    }

    async fn connect(self: Arc<Self>, shard: ShardOf) -> Result<impl Work, Failure> {
        let size = match self.connecting() {
            Connecting::Pool(size) => share(size, shard),
            _ => 0,
        };
        let client = self.client(self.connections(size))?;
        let limit = self.connecting().set_up_limit();
        match tokio::time::timeout(limit, client.prepare()).await {
            Ok(prepared) => prepared.map_err(|error| self.blame(&error))?,
            Err(_) => return Err(self.unreachable(format!("no connection within {limit:?}"))),
        }
        let requests = self.requests.clone();
        let work = move |ticket: Ticket| {
            let client = client.clone();
            let request = requests.of(ticket.seq);
            async move { client.call(request?).await.map_err(CallError::Redis) }
        };
        let kind = move |ticket: Ticket| self.kind(ticket.seq).map(Kind::new);
        Ok(labelled(work, kind))
    }

    /// `PING`; a cluster has no one server to ask.
    async fn round_trip(self: Arc<Self>) -> Option<Rtt> {
        if self.arguments.cluster {
            return None;
        }
        let client = self.client(Connections::pool(1)).ok()?;
        let ping = Request::command(["PING"]).ok()?;
        let probe = async {
            client.prepare().await.ok()?;
            let once = async || client.call(ping.clone()).await.map(drop);
            Rtt::probe(PROBES, once).await.ok()
        };
        tokio::time::timeout(HEALTH, probe).await.ok()?
    }

    fn health(self: Arc<Self>) -> impl Future<Output = Result<(), String>> + Send {
        let client = self.client(Connections::pool(1));
        async move {
            let client = client.map_err(|error| error.to_string())?;
            reached(client.prepare()).await
        }
    }
}
