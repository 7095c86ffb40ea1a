//! `loadgen inference`.

mod args;
mod models;
mod rehearsal;
mod requests;
mod stated;
mod watch;

pub(crate) use args::InferenceArgs;

use crate::arrivals::Replay;
use crate::connections::reached;
use crate::exit::Failure;
use crate::protocol::{Connecting, Observed, Protocol, share, steady};
use crate::{kinds, output};
use ::http::Uri;
use openloop_experiment::drive::{DriveError, Monitor, ShardOf};
use openloop_experiment::{Plan, Run, Work};
use openloop_http::HttpError;
use openloop_inference::{
    BuildError, Connections, FORMULAS, Goodput, Inference, MetricNames, Tls, Totals,
};
use openloop_measurer::Operation;
use openloop_report::Report;
use openloop_sched::Ticket;
use requests::{CallError, Prompting};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use watch::Watch;

/// A language-model server, and what is asked of it.
#[derive(Debug)]
pub(crate) struct InferenceLoad {
    arguments: InferenceArgs,
    host: String,
    port: u16,
    tls: Option<Tls>,
    api_key: Option<String>,
    prompting: Prompting,
    good: Goodput,
    totals: Totals,
    watch: Watch,
    /// Clients that were made: as many for each run as it has threads.
    clients: AtomicU64,
}

impl InferenceLoad {
    /// # Errors
    /// When the flags do not make a request: all that can be told without a connection.
    pub(crate) fn new(arguments: &InferenceArgs, replay: Option<&Replay>) -> Result<Self, Failure> {
        arguments.check().map_err(Failure::Usage)?;
        let trace = kinds::rows(replay, &arguments.load);
        let uri = Uri::try_from(&arguments.url).map_err(Failure::usage)?;
        let host = uri.host().unwrap_or_default();
        let default_port = if uri.scheme_str() == Some("https") {
            443
        } else {
            80
        };
        let load = InferenceLoad {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: uri.port_u16().unwrap_or(default_port),
            tls: arguments.tls().map_err(Failure::Usage)?,
            api_key: arguments.api_key().map_err(Failure::Usage)?,
            prompting: Prompting::new(arguments, trace).map_err(Failure::Usage)?,
            good: arguments.good().map_err(Failure::Usage)?,
            totals: Totals::default(),
            watch: Watch::default(),
            clients: AtomicU64::new(0),
            arguments: arguments.clone(),
        };
        let client = load.client(load.connections(1)).map_err(Failure::usage)?;
        load.prompting.request(&client, 0).map_err(Failure::usage)?;
        Ok(load)
    }

    fn client(&self, connections: Connections) -> Result<Inference, BuildError> {
        let arguments = &self.arguments;
        let mut client = Inference::builder(&arguments.url, &arguments.model)
            .api(arguments.api.0)
            .stream(!arguments.no_stream)
            .usage(!arguments.no_usage)
            .connections(connections)
            .keep_text(self.prompting.needs_text())
            .totals(self.totals.clone());
        if arguments.ignore_eos {
            client = client.ignore_eos(true);
        }
        if arguments.max_completion_tokens {
            client = client.max_completion_tokens();
        }
        for (name, value) in &arguments.field {
            client = client.field(name, value.clone());
        }
        for (name, value) in &arguments.header {
            client = client.header(name, value);
        }
        if let Some(key) = &self.api_key {
            client = client.api_key(key);
        }
        client = client.goodput(self.good.clone());
        if let Some(tls) = &self.tls {
            client = client.tls(tls.clone());
        }
        client.build()
    }

    /// The connections of a client that has `pool` of them, where their number is fixed.
    fn connections(&self, pool: usize) -> Connections {
        match self.connecting() {
            Connecting::Pool(_) => Connections::pool(pool),
            Connecting::PerRequest => Connections::PerRequest,
            Connecting::PerInFlight => Connections::PerInFlight,
        }
    }

    fn unreachable(&self, why: impl std::fmt::Display) -> Failure {
        Failure::Unreachable(format!("{} cannot be reached: {why}", self.arguments.url))
    }

    /// Whose fault it is that no connection could be opened.
    fn blame(&self, error: &HttpError) -> Failure {
        if error.class().starts_with("client") {
            return Failure::Machine(error.to_string());
        }
        self.unreachable(error)
    }

    /// Which run of this invocation a client is for: each has prompts of its own, so that none is helped by what the
    /// one before left in a cache.
    fn run_of(&self, shard: ShardOf) -> u64 {
        self.clients.fetch_add(1, Ordering::Relaxed) / shard.count.max(1) as u64
    }
}

impl Protocol for InferenceLoad {
    fn endpoint(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    fn target(&self) -> &str {
        &self.arguments.url
    }

    fn describe(&self) -> String {
        let arguments = &self.arguments;
        let mut text = format!(
            "{} of {} at {} over {}\n{}",
            arguments.api,
            arguments.model,
            arguments.url,
            self.connecting().shown(),
            self.prompting.describe()
        );
        let experiment = &arguments.load.experiment;
        if let Some((name, each)) = experiment.counted {
            let name = name.replace('_', " ");
            text.push_str(&format!(
                "\nrates are given in {name}, of which a request has {each:.1}"
            ));
        }
        let statement = experiment.statement.as_ref();
        if let Some(stated) = statement.and_then(|statement| statement.workload.prefix_reuse) {
            let sent = self.prompting.hit_share();
            if (sent - stated).abs() > 0.05 {
                text.push_str(&format!(
                    "\nthe problem states that {:.0} % of the prompts were said before, and of these it is {:.0} %: give \
                     --prefixes",
                    100.0 * stated,
                    100.0 * sent
                ));
            }
        }
        text
    }

    fn kinds(&self) -> Vec<&str> {
        Vec::new()
    }

    fn kind(&self, _: u64) -> Option<usize> {
        None
    }

    fn asked(&self, numbers: &[u64]) -> Vec<String> {
        let Ok(client) = self.client(self.connections(1)) else {
            return Vec::new();
        };
        let prompting = self.prompting.of_run(0);
        let asked = |seq: &u64| match prompting.request(&client, *seq) {
            // What headers say is nobody's business.
            Ok(request) => format!("{} {:?}", request.http().uri(), request.http().body()),
            Err(error) => error.to_string(),
        };
        numbers.iter().map(asked).collect()
    }

    fn stages(&self) -> &'static [&'static str] {
        &[
            "ttft",
            "ttft_sent",
            "ttft_visible",
            "first_event",
            "tpot",
            "itl",
            "itl_chunk",
            "e2e",
            "e2e_sent",
            "ntpot",
            "server_prefill",
            "server_decode",
            "acquire",
            "dns",
            "connect",
            "tls",
            "first_byte",
            "body",
        ]
    }

    fn connecting(&self) -> Connecting {
        self.arguments.connections.connecting(false)
    }

    fn tells_good(&self) -> bool {
        true
    }

    fn engine(&self) -> Option<&'static str> {
        Some(rehearsal::ENGINE)
    }

    fn rehearse(&self, plan: &Plan) -> Option<Result<Run, DriveError>> {
        let run = self.clients.fetch_add(1, Ordering::Relaxed);
        let prompting = self.prompting.of_run(run);
        Some(rehearsal::rehearse(plan, &prompting, &self.good))
    }

    async fn connect(self: Arc<Self>, shard: ShardOf) -> Result<impl Work, Failure> {
        let size = match self.connecting() {
            Connecting::Pool(size) => share(size, shard),
            _ => 0,
        };
        let client = self
            .client(self.connections(size))
            .map_err(Failure::usage)?;
        let limit = self.connecting().set_up_limit();
        match tokio::time::timeout(limit, client.prepare()).await {
            Ok(prepared) => prepared.map_err(|error| self.blame(&error))?,
            Err(_) => return Err(self.unreachable(format!("no connection within {limit:?}"))),
        }
        let run = self.run_of(shard);
        if run == 0 && shard.index == 0 && !self.arguments.load.output.quiet {
            let instead = models::instead(&self.arguments, self.tls.clone()).await;
            if let Some(names) = instead {
                output::complain(format_args!(
                    "the server does not list the model \"{}\"; it has: {}",
                    self.arguments.model,
                    names.join(", ")
                ));
            }
        }
        let prompting = self.prompting.of_run(run);
        Ok(move |ticket: Ticket| {
            let client = client.clone();
            let request = prompting.request(&client, ticket.seq);
            let place = prompting.place(ticket.seq);
            async move {
                let answer = client.call(request?).await.map_err(CallError::from)?;
                if let Some(place) = place {
                    place.keep(answer.text());
                }
                Ok::<_, CallError>(answer)
            }
        })
    }

    fn health(self: Arc<Self>) -> impl Future<Output = Result<(), String>> + Send {
        // A connection and no request: the server has been asked exactly what was planned.
        let client = self.client(Connections::pool(1));
        async move {
            let client = client.map_err(|error| error.to_string())?;
            reached(client.prepare()).await
        }
    }

    /// What the server says of itself all through the run, and the tokens that came in its steady phase.
    async fn observe(self: Arc<Self>, run: Monitor) -> Vec<Observed> {
        let (begins, ends) = steady(&run);
        let tokens = async {
            begins.await;
            let before = (self.totals.input_tokens(), self.totals.output_tokens());
            ends.await;
            let seconds = run.plan().layout().steady().length().as_secs_f64();
            let rate = |before: u64, after: u64| (after - before) as f64 / seconds;
            [
                (
                    "input_tokens_per_second",
                    rate(before.0, self.totals.input_tokens()),
                ),
                (
                    "output_tokens_per_second",
                    rate(before.1, self.totals.output_tokens()),
                ),
            ]
        };
        let scraped = self.watch.scrape(&self.arguments, self.tls.clone(), &run);
        let (tokens, scraped) = tokio::join!(tokens, scraped);
        tokens.into_iter().chain(scraped).collect()
    }

    fn conclude(&self, mut report: Report) -> Report {
        report = self.watch.tell(report);
        for (name, formula) in FORMULAS {
            if report.metrics.contains_key(name) {
                report = report.with_formula(name, formula);
            }
        }
        let steady = report.phases.iter().find(|phase| phase.name == "steady");
        let (arrivals, seconds) = (
            steady.map_or(0, |phase| phase.arrivals.scheduled),
            report.steady_ns as f64 / 1e9,
        );
        if !self.good.is_empty() && arrivals > 0 && seconds > 0.0 {
            let good = report.counts.get("good").copied().unwrap_or(0) as f64;
            report = report
                .with_observation("goodput_rate", good / arrivals as f64)
                .with_observation("goodput_per_second", good / seconds)
                .with_formula("good", self.good.to_string());
        }
        match self.arguments.metric_names {
            Some(names) => renamed(report, names),
            None => report,
        }
    }
}

/// With the metrics once more under the names that another tool gives them.
fn renamed(mut report: Report, names: MetricNames) -> Report {
    for (ours, theirs) in names.pairs() {
        if let Some(summary) = report.metrics.get(*ours).cloned() {
            let name = format!("{names}:{theirs}");
            let formula = format!("{ours}, as {names} has it");
            report.metrics.insert(name.clone(), summary);
            report = report.with_formula(name, formula);
        }
    }
    report
}
