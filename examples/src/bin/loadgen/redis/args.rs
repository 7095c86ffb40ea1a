//! The flags of `loadgen redis`.

use super::RedisMix;
use crate::cli::LoadArgs;
use crate::connections::ConnectionsArg;
use crate::problem;
use clap::Args;
use openloop_redis::{Script, Tls};
use openloop_workload::traces::Trace;
use openloop_workload::{Keys, Template};
use std::path::PathBuf;
use std::str::FromStr;

/// What is asked of a Redis server, and over which connections.
#[derive(Clone, Debug, Args)]
pub(crate) struct RedisArgs {
    /// Such as redis://127.0.0.1:6379, redis://user:password@host:6379/1 or, over TLS, rediss://host
    pub(crate) url: String,

    /// The command, in words as in redis-cli: "GET key:{key}", "SET key:{key} {value:100}". {key} needs --keys;
    /// {value:SIZE} is random text of that many bytes, a number or a law such as lognormal:mean=200,cv=1,max=65536
    #[arg(
        long,
        required_unless_present_any = ["mix", "problem"],
        allow_hyphen_values = true,
        help_heading = "Request"
    )]
    pub(crate) command: Option<String>,

    /// A Lua script, called by its hash; then --command has its keys and, behind a comma, its arguments: "key:{key} , 5"
    #[arg(
        long,
        value_name = "FILE",
        requires = "command",
        help_heading = "Request"
    )]
    pub(crate) script: Option<PathBuf>,

    /// What stands for {key}: uniform:N, sequential:N, zipf:N:S, zipf:N:80/20, hotspot:N:HOT:SHARE or latest:N:S:INSERTS,
    /// all told below; the same for the same --seed and request number
    #[arg(long, value_name = "LAW", help_heading = "Request")]
    pub(crate) keys: Option<Keys>,

    /// Several kinds of request, each with a weight, a command and fields to fill it: see examples/mixes/cache.toml.
    /// With --arrivals trace:FILE the rows of the trace choose the kinds, where it has kinds of these names
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "keys", "pipeline"], help_heading = "Request")]
    pub(crate) mix: Option<PathBuf>,

    /// Each request is so many of the command, each with a key and a value of its own, sent at once; the rate is that of
    /// requests
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Request")]
    pub(crate) pipeline: usize,

    /// Connections, opened before the run and shared, of a cluster to each node; or per-in-flight: as many as there are
    /// requests in flight
    #[arg(
        long,
        value_name = "N|per-in-flight",
        default_value = "50",
        help_heading = "Connections"
    )]
    pub(crate) connections: ConnectionsArg,

    /// So many requests at once on each connection, answered one after the other, or unlimited; with --connections 1
    /// --depth unlimited all share one, as most clients of Redis do [default: 1]
    #[arg(
        long,
        value_name = "N|unlimited",
        conflicts_with = "connect_per_request",
        help_heading = "Connections"
    )]
    pub(crate) depth: Option<Depth>,

    /// A new connection for each request, closed after it
    #[arg(long, conflicts_with = "connections", help_heading = "Connections")]
    pub(crate) connect_per_request: bool,

    /// The URL is that of a node of a cluster: requests go to the node of their first key, and follow MOVED and ASK. The
    /// keys of one command or script must be of one slot: give them a part in braces in common, "MGET {{key}}:a {{key}}:b"
    #[arg(long, help_heading = "Connections")]
    pub(crate) cluster: bool,

    /// Trusts the certificates of this PEM file and no others
    #[arg(long, value_name = "FILE", help_heading = "Connections")]
    pub(crate) ca: Option<PathBuf>,

    /// Takes any certificate: for test servers only
    #[arg(long, conflicts_with = "ca", help_heading = "Connections")]
    pub(crate) insecure: bool,

    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

/// `--depth`; `usize::MAX` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depth(pub(crate) usize);

impl FromStr for Depth {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "unlimited" {
            return Ok(Depth(usize::MAX));
        }
        match text.parse() {
            Ok(0) => Err("a depth of 0 carries nothing: give at least 1"),
            Ok(depth) => Ok(Depth(depth)),
            Err(_) => Err("write a number, such as 16, or unlimited"),
        }
    }
}

impl RedisArgs {
    /// Puts what the problem says of the requests in the place of what the flags do not say.
    pub(crate) fn fill(&mut self) {
        let takes_mix = self.command.is_none();
        let has_key = self
            .command
            .iter()
            .any(|command| Template::new(command).has_key());
        let (mix, keys) = (&mut self.mix, &mut self.keys);
        problem::fill_requests(&self.load, takes_mix, has_key, mix, keys);
    }

    /// The kinds of request, if there are several; `trace` has a row for each request.
    pub(crate) fn mix(&self, trace: Option<&Trace>) -> Result<Option<RedisMix>, String> {
        let read = |file| super::read_mix(file, trace);
        self.mix.as_deref().map(read).transpose()
    }

    pub(crate) fn script(&self) -> Result<Option<Script>, String> {
        let Some(file) = &self.script else {
            return Ok(None);
        };
        super::command::script(file).map(Some)
    }

    /// The certificates to trust; `None` for those of this machine.
    pub(crate) fn tls(&self) -> Result<Option<Tls>, String> {
        crate::connections::tls(self.ca.as_deref(), self.insecure)
    }

    /// What the flags must be together.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.command.is_none() && self.mix.is_none() {
            return Err("what is asked is not said: give --command, or --mix FILE".to_owned());
        }
        if !self.connect_per_request {
            self.connections.check(self.load.schedule.threads)?;
        }
        if self.depth.is_some() && self.connections == ConnectionsArg::PerInFlight {
            return Err(
                "with a connection for each request in flight the depth is 1: leave out --depth"
                    .to_owned(),
            );
        }
        if self.pipeline == 0 {
            return Err("a pipeline of 0 commands asks for nothing: give at least 1".to_owned());
        }
        Ok(())
    }
}
