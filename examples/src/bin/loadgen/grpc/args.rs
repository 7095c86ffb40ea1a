//! The flags of `loadgen grpc`.

use super::GrpcMix;
use crate::cli::LoadArgs;
use crate::problem;
use clap::Args;
use openloop_grpc::{Pace, Schema, Tls};
use openloop_sched::parse_duration;
use openloop_workload::traces::Trace;
use openloop_workload::{Keys, Template};
use std::path::PathBuf;
use std::time::Duration;

/// What is asked of a gRPC server, and over which channels.
#[derive(Clone, Debug, Args)]
pub(crate) struct GrpcArgs {
    /// Such as http://127.0.0.1:50051 or, over TLS, https://host
    pub(crate) url: String,

    /// The method, as package.Service/Method; unary and streaming calls alike
    #[arg(
        long,
        required_unless_present_any = ["mix", "problem"],
        help_heading = "Request"
    )]
    pub(crate) method: Option<String>,

    /// The message, in JSON: '{"id": {key}}'; {key} needs --keys. For a method that takes a stream it may be given several
    /// times [default: {}]
    #[arg(
        long,
        visible_alias = "body",
        value_name = "JSON",
        allow_hyphen_values = true,
        help_heading = "Request"
    )]
    pub(crate) data: Vec<String>,

    /// For a method that takes a stream: sends --data so often, each with a key of its own
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Request")]
    pub(crate) messages: usize,

    /// When the messages of a stream are sent: at-once, in-turn (each after an answer to the one before, where both sides
    /// are streams), or a time between them, such as 10ms [default: at-once]
    #[arg(long, value_name = "PACE", value_parser = pace, help_heading = "Request")]
    pub(crate) pace: Option<Pace>,

    /// What stands for {key}: uniform:N, sequential:N, zipf:N:S, zipf:N:80/20, hotspot:N:HOT:SHARE or latest:N:S:INSERTS,
    /// all told below; the same for the same --seed and request number
    #[arg(long, value_name = "LAW", help_heading = "Request")]
    pub(crate) keys: Option<Keys>,

    /// Several kinds of request, each with a weight, a method, data and fields to fill it: see examples/mixes/echo.toml.
    /// With --arrivals trace:FILE the rows of the trace choose the kinds, where it has kinds of these names
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "data", "keys", "messages", "pace"], help_heading = "Request")]
    pub(crate) mix: Option<PathBuf>,

    /// Metadata as "name: value", sent with every call; repeatable
    #[arg(long, value_name = "METADATA", value_parser = metadata, help_heading = "Request")]
    pub(crate) metadata: Vec<(String, String)>,

    /// The time that a call may take from the moment at which it is made. The server is told what is left of it, and a
    /// call that meets it is cancelled and counts as timed out [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, help_heading = "Request")]
    pub(crate) deadline: Option<Duration>,

    /// The .proto file that has the method; without it or --descriptor-set the server is asked, by reflection
    #[arg(long, value_name = "FILE", help_heading = "Messages")]
    pub(crate) proto: Option<PathBuf>,

    /// Where the imports of --proto are; repeatable [default: the folder of the file]
    #[arg(
        long,
        value_name = "FOLDER",
        requires = "proto",
        help_heading = "Messages"
    )]
    pub(crate) import: Vec<PathBuf>,

    /// A descriptor set, as protoc --include_imports --descriptor_set_out writes it, instead of --proto
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "proto",
        help_heading = "Messages"
    )]
    pub(crate) descriptor_set: Option<PathBuf>,

    /// Connections, opened before the run and shared by all calls; each carries as many at once as the server allows
    /// streams, and what waits for one is told as the stage acquire
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        help_heading = "Connections"
    )]
    pub(crate) channels: usize,

    /// The authority that calls name, where it is not that of the URL
    #[arg(long, help_heading = "Connections")]
    pub(crate) authority: Option<String>,

    /// Trusts the certificates of this PEM file and no others
    #[arg(long, value_name = "FILE", help_heading = "Connections")]
    pub(crate) ca: Option<PathBuf>,

    /// Takes any certificate: for test servers only
    #[arg(long, conflicts_with = "ca", help_heading = "Connections")]
    pub(crate) insecure: bool,

    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

fn metadata(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or("write name: value, such as \"authorization: Bearer 1\"")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn pace(text: &str) -> Result<Pace, String> {
    match text {
        "at-once" => Ok(Pace::AtOnce),
        "in-turn" => Ok(Pace::InTurn),
        time => parse_duration(time)
            .map(Pace::Every)
            .map_err(|_| "write at-once, in-turn or a time, such as 10ms".to_owned()),
    }
}

impl GrpcArgs {
    /// Puts what the problem says of the requests in the place of what the flags do not say.
    pub(crate) fn fill(&mut self) {
        let takes_mix = self.method.is_none();
        let has_key = self.data.iter().any(|data| Template::new(data).has_key());
        let (mix, keys) = (&mut self.mix, &mut self.keys);
        problem::fill_requests(&self.load, takes_mix, has_key, mix, keys);
    }

    /// The kinds of request, if there are several; `trace` has a row for each request.
    pub(crate) fn mix(&self, trace: Option<&Trace>) -> Result<Option<GrpcMix>, String> {
        let read = |file| super::read_mix(file, trace);
        self.mix.as_deref().map(read).transpose()
    }

    /// What the methods are, where a file tells it.
    pub(crate) fn schema(&self) -> Result<Option<Schema>, String> {
        if let Some(file) = &self.proto {
            let schema = Schema::from_proto(file, &self.import);
            return schema.map(Some).map_err(|error| error.to_string());
        }
        let Some(file) = &self.descriptor_set else {
            return Ok(None);
        };
        let named = |why: String| format!("{}: {why}", file.display());
        let bytes =
            std::fs::read(file).map_err(|error| named(format!("cannot be read: {error}")))?;
        Schema::from_descriptor_set(&bytes)
            .map(Some)
            .map_err(|error| named(error.to_string()))
    }

    /// The certificates to trust; `None` for those of this machine.
    pub(crate) fn tls(&self) -> Result<Option<Tls>, String> {
        crate::connections::tls(self.ca.as_deref(), self.insecure)
    }

    /// What the flags must be together.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.method.is_none() && self.mix.is_none() {
            return Err("what is asked is not said: give --method, or --mix FILE".to_owned());
        }
        let threads = self.load.schedule.threads;
        if self.channels < threads {
            return Err(format!(
                "each of the {threads} threads needs a channel, and there are {}: give more --channels",
                self.channels
            ));
        }
        if self.messages == 0 {
            return Err("0 messages ask for nothing: give at least 1".to_owned());
        }
        Ok(())
    }
}
