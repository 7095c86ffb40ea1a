//! The command line.

mod experiment;

pub(crate) use experiment::{ExperimentArgs, SweepArg};

use crate::arrivals;
use crate::capacity::CapacityArgs;
use crate::exit;
#[cfg(feature = "grpc")]
use crate::grpc::GrpcArgs;
#[cfg(feature = "http")]
use crate::http::HttpArgs;
#[cfg(feature = "inference")]
use crate::inference::InferenceArgs;
use crate::kinds;
#[cfg(feature = "postgres")]
use crate::postgres::PostgresArgs;
#[cfg(feature = "redis")]
use crate::redis::RedisArgs;
use crate::report::ReportArgs;
use crate::sample::SampleArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use openloop_experiment::{OnFailure, Slo, TimeoutFrom, Validity};
use openloop_sched::{Bursts, Precision, Profile, Rate, Shard, parse_duration};
use openloop_workload::values::Source;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Loads a service and says what its users would have waited.
///
/// Requests start when the schedule says, whatever the service does, and every latency runs from the instant at
/// which the request should have started. The report says as well whether the run may be believed.
#[derive(Debug, Parser)]
#[command(name = "loadgen", version, after_help = exit::HELP)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The protocols that were built in, and what helps to write their flags.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load an HTTP service: loadgen http http://127.0.0.1:8080/ --rate 2000
    #[cfg(feature = "http")]
    #[command(after_help = format!("{}\n\n{}", kinds::KEYS, exit::HELP))]
    Http(Box<HttpArgs>),

    /// Load a language-model server with OpenAI's interface: loadgen inference http://127.0.0.1:8000 --model NAME --rate 5
    #[cfg(feature = "inference")]
    #[command(after_help = exit::HELP)]
    Inference(Box<InferenceArgs>),

    /// Load a PostgreSQL server: loadgen postgres postgres://user@127.0.0.1/db --query 'SELECT 1' --rate 2000
    #[cfg(feature = "postgres")]
    #[command(after_help = format!("{}\n\n{}", kinds::KEYS, exit::HELP))]
    Postgres(Box<PostgresArgs>),

    /// Load a gRPC server: loadgen grpc http://127.0.0.1:50051 --method shop.Cart/Get --data '{"id": 42}' --rate 2000
    #[cfg(feature = "grpc")]
    #[command(after_help = format!("{}\n\n{}", kinds::KEYS, exit::HELP))]
    Grpc(Box<GrpcArgs>),

    /// Print a problem statement to fill in: loadgen problem --template web
    Problem(ProblemArgs),

    /// Show, merge or compare reports and interval logs: loadgen report run.json --html run.html
    #[command(after_help = crate::report::HELP)]
    Report(Box<ReportArgs>),
    /// Load a Redis server or cluster: loadgen redis redis://127.0.0.1:6379 --command "GET key:{key}" --keys uniform:1e6
    /// --rate 5000
    #[cfg(feature = "redis")]
    #[command(after_help = format!("{}\n\n{}", kinds::KEYS, exit::HELP))]
    Redis(Box<RedisArgs>),

    /// Show what a sampler draws before it is used: loadgen sample keys zipf:1e6:0.99
    Sample(Box<SampleArgs>),

    /// Calculate what a service can carry, as JSON: loadgen capacity mmc --rate 75 --service 100ms --servers 10
    Capacity(Box<CapacityArgs>),
}

/// `loadgen problem`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ProblemArgs {
    /// For a web service or a database, or for the inference of a language model; every field is explained
    #[arg(
        long,
        value_name = "KIND",
        conflicts_with = "schema",
        required_unless_present = "schema"
    )]
    pub(crate) template: Option<Template>,

    /// Prints the JSON schema of a statement instead
    #[arg(long)]
    pub(crate) schema: bool,
}

/// `--template`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    Web,
    Llm,
}

/// The flags that all protocols share.
#[derive(Clone, Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,
    #[command(flatten)]
    pub(crate) phases: PhaseArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    #[command(flatten)]
    pub(crate) experiment: ExperimentArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// When requests start.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "When requests start")]
pub(crate) struct ScheduleArgs {
    /// Requests per second, whatever the service does
    #[arg(long, allow_hyphen_values = true, conflicts_with_all = ["profile", "closed"])]
    pub(crate) rate: Option<Rate>,

    /// A rate that changes, instead of --rate and the phases: "0->100/10s,100/20s,100->0/10s" (per second, each for
    /// its duration, ramps with ->); all of it is measured
    #[arg(long, conflicts_with = "closed")]
    pub(crate) profile: Option<Profile>,

    /// How requests scatter around the rate: constant, poisson or gamma:CV; or recorded arrivals, instead of a rate:
    /// trace:FILE or trace:FILE:SCALE (Azure LLM, BurstGPT or plain CSV, Mooncake or Bailian JSON lines, or seconds
    /// since the start, one a line; a SCALE of 0.5 replays twice as fast) [default: poisson]
    #[arg(long, conflicts_with = "closed")]
    pub(crate) arrivals: Option<arrivals::Source>,

    /// Multiplies the rate by FACTOR for a random time of ON on average, then lowers it for OFF, so that the mean
    /// rate stays: 100ms,900ms,5
    #[arg(long, value_name = "ON,OFF,FACTOR", conflicts_with = "closed")]
    pub(crate) bursts: Option<Bursts>,

    /// A closed loop instead of a rate: this many users, each of whom waits for the answer before asking again. The
    /// load then falls when the service slows down, and its slowest moments are missing from the result
    #[arg(long, value_name = "USERS")]
    pub(crate) closed: Option<usize>,

    /// How long a user of --closed waits between an answer and the next request [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, requires = "closed")]
    pub(crate) think: Option<Duration>,

    /// The rate is that of sessions, not of requests: how many requests a session has, by a law such as exponential:5
    /// or fixed:3 (loadgen sample values --help). Each follows the answer to the one before
    #[arg(long, value_name = "STEPS", conflicts_with = "closed")]
    pub(crate) sessions: Option<Source>,

    /// How many seconds a session thinks between an answer and its next request, by a law such as lognormal:2:1
    /// [default: fixed:0]
    #[arg(long, value_name = "SECONDS", requires = "sessions")]
    pub(crate) session_think: Option<Source>,

    /// What a session does where a request is not served: it ends, as of a user who leaves, or goes on with the next
    /// one, as of a program [default: end]
    #[arg(long, value_name = "WHAT", requires = "sessions")]
    pub(crate) on_failure: Option<Then>,

    /// What everything random is drawn from: the same seed gives the same requests at the same instants
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// How exactly to wait for the next instant: coarse (1 ms), timer (50 us), or spin (under 1 us at the median,
    /// for CPU time) [default: spin on Linux]
    #[arg(long)]
    pub(crate) precision: Option<Precision>,

    /// Threads that send, each with its share of the requests and of the connections
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: usize,

    /// Sends one shard of the requests; the other processes of the run, on this machine or on others, send the others.
    /// env: which one is read from Slurm, mpirun or an indexed Job of Kubernetes; or index and count by hand, from 0:
    /// 0/4. Rates are those of all together, connections and --max-in-flight each process has of its own
    #[arg(long, value_name = "env|K/N", value_parser = shard, allow_hyphen_values = true, requires = "start_at", conflicts_with = "closed")]
    pub(crate) shard: Option<Shard>,

    /// Begins at this instant (RFC 3339), once everything is set up: the same for all shards, whose clocks must agree:
    /// 2027-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = start_at)]
    pub(crate) start_at: Option<SystemTime>,

    /// An NTP server that all shards ask how far their machines' clocks are off: --start-at then is by its clock, and the
    /// merged report says within what they began together
    #[arg(long, value_name = "HOST[:PORT]", requires = "start_at")]
    pub(crate) clock_reference: Option<String>,
}

fn shard(text: &str) -> Result<Shard, String> {
    let shard = match text {
        "env" => Shard::from_env(),
        text => text.parse(),
    };
    shard.map_err(|error| error.to_string())
}

fn start_at(text: &str) -> Result<SystemTime, String> {
    let at: jiff::Timestamp = text.parse().map_err(|error| {
        format!("no instant of RFC 3339, such as 2027-01-31T12:00:00Z: {error}")
    })?;
    Ok(SystemTime::from(at))
}

/// `--on-failure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Then {
    End,
    Continue,
}

impl From<Then> for OnFailure {
    fn from(then: Then) -> Self {
        match then {
            Then::End => OnFailure::End,
            Then::Continue => OnFailure::Continue,
        }
    }
}

/// What is measured.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Phases (0s leaves one out)")]
pub(crate) struct PhaseArgs {
    /// The rate grows from 0; not measured [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(crate) ramp_up: Option<Duration>,

    /// The rate is reached; not measured [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(crate) warm_up: Option<Duration>,

    /// The measurement; it cannot be left out [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(crate) steady: Option<Duration>,

    /// The rate falls to 0; not measured [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(crate) cooldown: Option<Duration>,
}

/// What limits each request.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// At most so many requests in flight at once [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) max_in_flight: Option<usize>,

    /// What happens to a request above --max-in-flight: it waits, and its wait counts, or it is never sent, and
    /// counts as shed [default: queue]
    #[arg(long, value_name = "POLICY", requires = "max_in_flight")]
    pub(crate) on_limit: Option<OnLimit>,

    /// Gives a request up after so long [default: never]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(crate) timeout: Option<Duration>,

    /// From when --timeout runs: as for a user who gives up, or as in a client library [default: intended]
    #[arg(long, value_name = "INSTANT", requires = "timeout")]
    pub(crate) timeout_from: Option<RunsFrom>,

    /// How long to wait, at the end, for what is in flight; never shorter than --timeout [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(crate) drain: Option<Duration>,
}

/// `--on-limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLimit {
    Queue,
    Shed,
}

/// `--timeout-from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunsFrom {
    Intended,
    Dispatch,
}

impl From<RunsFrom> for TimeoutFrom {
    fn from(from: RunsFrom) -> Self {
        match from {
            RunsFrom::Intended => TimeoutFrom::Intended,
            RunsFrom::Dispatch => TimeoutFrom::Dispatched,
        }
    }
}

/// What the exit status depends on.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Verdict")]
pub(crate) struct VerdictArgs {
    /// Bounds that must be kept: "p99<=100ms", "p50<=1.5S,p99<=4S,errors<=0.1%" (S is the service floor, which is then
    /// measured first); or a file of them
    #[arg(long, value_name = "BOUNDS|FILE", value_parser = experiment::slo)]
    pub(crate) slo: Option<Slo>,

    /// Lets this check of the run's validity fail; repeatable
    #[arg(long, value_name = "CHECK", value_parser = check)]
    pub(crate) waive: Vec<String>,
}

fn check(name: &str) -> Result<String, String> {
    if Validity::CHECKS.contains(&name) {
        return Ok(name.to_owned());
    }
    let known = Validity::CHECKS.join(", ");
    Err(format!(
        "there is no check of that name; there are: {known}"
    ))
}

/// What is written where.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Writes the whole report as JSON to this file; - is the standard output, instead of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Writes one page with charts to this file, which needs no other and holds the whole report
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Writes the histograms to this file as an HdrHistogram interval log, by outcome and metric
    #[arg(long, value_name = "FILE")]
    pub(crate) hlog: Option<PathBuf>,

    /// Writes a summary for a comment on a pull request to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// No progress and no text; the exit status and the files remain
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Sends nothing: prints how many requests there would be, in all and by phase, as JSON; with --sessions how many
    /// sessions, and how many requests at most
    #[arg(long)]
    pub(crate) preview: bool,

    /// Sends nothing: writes the instant of every request to this file as CSV (seq,offset_ns,phase); with --sessions
    /// that of every session
    #[arg(long, value_name = "FILE")]
    pub(crate) preview_arrivals: Option<PathBuf>,
}

impl OutputArgs {
    /// Whether nothing is to be sent.
    pub(crate) fn is_preview(&self) -> bool {
        self.preview || self.preview_arrivals.is_some()
    }
}
