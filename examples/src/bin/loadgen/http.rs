//! `loadgen http`.

mod args;
mod mix;
mod requests;

pub(crate) use args::{HttpArgs, KEYS};
pub(crate) use mix::HttpMix;

use crate::arrivals::Replay;
use crate::exit::Failure;
use crate::protocol::{Connecting, Protocol, share};
use crate::shares;
use ::http::Uri;
use args::ConnectionsArg;
use bytes::Bytes;
use openloop_experiment::drive::ShardOf;
use openloop_experiment::{Rtt, Work, labelled};
use openloop_http::{BuildError, Connections, Http, HttpError, Tls, Version};
use openloop_measurer::{Kind, Operation};
use openloop_sched::Ticket;
use openloop_workload::Keys;
use requests::{CallError, Requests};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// How long opening connections may take before the run, and how much longer for each of them.
const SET_UP: Duration = Duration::from_secs(10);
const SET_UP_EACH: Duration = Duration::from_millis(10);
/// How long the target may take to accept a connection after the drain.
const HEALTH: Duration = Duration::from_secs(5);
/// How many no-ops tell the round trip.
const PROBES: usize = 25;

/// An HTTP service, and what is asked of it.
#[derive(Debug)]
pub(crate) struct HttpLoad {
    arguments: HttpArgs,
    /// The name of the target, without the brackets of an IPv6 address.
    host: String,
    port: u16,
    tls: Option<Tls>,
    mix: Option<Arc<HttpMix>>,
}

impl HttpLoad {
    /// # Errors
    /// When the flags do not make a request: all that can be told without a connection.
    pub(crate) fn new(arguments: &HttpArgs, replay: Option<&Replay>) -> Result<Self, Failure> {
        arguments.check().map_err(Failure::Usage)?;
        // A trace has a row for each arrival, and not for the later requests of a session.
        let is_open = arguments.load.schedule.sessions.is_none();
        let trace = replay.and_then(|replay| replay.rows.as_ref());
        let trace = trace.filter(|_| is_open);
        let mix = arguments.mix(trace).map_err(Failure::Usage)?;
        if !is_open {
            refuse_order(arguments.keys.as_ref(), mix.as_ref()).map_err(Failure::Usage)?;
        }
        let mut load = HttpLoad {
            arguments: arguments.clone(),
            host: String::new(),
            port: 0,
            tls: arguments.tls().map_err(Failure::Usage)?,
            mix: mix.map(Arc::new),
        };
        let client = load.client(load.connections(1)).map_err(Failure::usage)?;
        if let Some(mix) = &load.mix {
            let check = |request| client.request_from(request).map(drop);
            mix.check(load.seed(), check).map_err(Failure::Usage)?;
        }
        // What is wrong with one key's request is wrong with all.
        let _checked = load
            .requests(&client)
            .and_then(|requests| requests.of(&client, 0))
            .map_err(Failure::usage)?;
        // Not from the request: its URI is the one that a Host header of the user's makes of it.
        let uri = Uri::try_from(load.render(&arguments.url)).map_err(Failure::usage)?;
        let host = uri.host().unwrap_or_default();
        load.host = host.trim_matches(['[', ']']).to_owned();
        let default_port = if uri.scheme_str() == Some("https") {
            443
        } else {
            80
        };
        load.port = uri.port_u16().unwrap_or(default_port);
        Ok(load)
    }

    fn client(&self, connections: Connections) -> Result<Http, BuildError> {
        let arguments = &self.arguments;
        let mut client = Http::builder(&self.render(&arguments.url))
            .connections(connections)
            .version(if arguments.http2 {
                Version::Http2
            } else {
                Version::Http1
            })
            .method(arguments.method())
            .body(self.render(arguments.body.as_deref().unwrap_or_default()));
        for (name, value) in &arguments.header {
            client = client.header(name, self.render(value));
        }
        if let Some(tls) = &self.tls {
            client = client.tls(tls.clone());
        }
        client.build()
    }

    /// With the key of the first request, for what is the same whatever the key.
    fn render(&self, text: &str) -> String {
        requests::render(text, &self.arguments, 0)
    }

    fn requests(&self, client: &Http) -> Result<Requests, CallError> {
        match &self.mix {
            Some(mix) => Requests::mixed(mix.clone(), self.seed(), client),
            None => Ok(Requests::new(&self.arguments, client)),
        }
    }

    fn seed(&self) -> u64 {
        self.arguments.load.schedule.seed
    }

    /// The connections of a client that has `pool` of them, where their number is fixed.
    fn connections(&self, pool: usize) -> Connections {
        match self.connecting() {
            Connecting::Pool(_) => Connections::pool(pool),
            Connecting::PerRequest => Connections::PerRequest,
            Connecting::PerInFlight => Connections::PerInFlight,
        }
    }

    fn set_up_limit(&self) -> Duration {
        match self.connecting() {
            Connecting::Pool(size) => {
                let size = u32::try_from(size).unwrap_or(u32::MAX);
                SET_UP + SET_UP_EACH.saturating_mul(size)
            }
            _ => SET_UP,
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
}

/// Refuses keys whose place in time is the number of their request, which in sessions it is not.
fn refuse_order(keys: Option<&Keys>, mix: Option<&HttpMix>) -> Result<(), String> {
    let of_mix = mix.into_iter().flat_map(HttpMix::keys);
    match keys
        .into_iter()
        .chain(of_mix)
        .find(|keys| keys.is_ordered())
    {
        None => Ok(()),
        Some(keys) => Err(format!(
            "the keys {keys} follow the order of requests, and those of --sessions have none before they are sent: take uniform, zipf or hotspot keys without a drift"
        )),
    }
}

impl Protocol for HttpLoad {
    fn endpoint(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    fn target(&self) -> &str {
        &self.arguments.url
    }

    fn describe(&self) -> String {
        let arguments = &self.arguments;
        let connections = match self.connecting() {
            Connecting::Pool(1) => "1 connection".to_owned(),
            Connecting::Pool(size) => format!("{size} connections"),
            Connecting::PerRequest => "a new connection for each request".to_owned(),
            Connecting::PerInFlight => "a connection for each request in flight".to_owned(),
        };
        let Some(mix) = &self.mix else {
            let (method, url) = (arguments.method(), &arguments.url);
            return format!("{method} {url} over {connections}");
        };
        let head = format!(
            "the kinds of request in {}, {}, to {} over {connections}",
            mix.file().display(),
            mix.chosen(),
            arguments.url
        );
        let lines = std::iter::once(head).chain(shares::table(mix.mix()));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn kinds(&self) -> Vec<&str> {
        let mix = self.mix.iter().flat_map(|mix| mix.mix().kinds());
        mix.map(openloop_workload::mix::Kind::name).collect()
    }

    fn kind(&self, seq: u64) -> Option<usize> {
        let mix = self.mix.as_ref()?;
        Some(mix.pick(self.seed(), seq).0)
    }

    fn connecting(&self) -> Connecting {
        match (
            self.arguments.connect_per_request,
            self.arguments.connections,
        ) {
            (true, _) => Connecting::PerRequest,
            (false, ConnectionsArg::PerInFlight) => Connecting::PerInFlight,
            (false, ConnectionsArg::Fixed(size)) => Connecting::Pool(size),
        }
    }

    async fn connect(self: Arc<Self>, shard: ShardOf) -> Result<impl Work, Failure> {
        let size = match self.connecting() {
            Connecting::Pool(size) => share(size, shard),
            _ => 0,
        };
        let client = self
            .client(self.connections(size))
            .map_err(Failure::usage)?;
        match tokio::time::timeout(self.set_up_limit(), client.prepare()).await {
            Ok(prepared) => prepared.map_err(|error| self.blame(&error))?,
            Err(_) => {
                let limit = self.set_up_limit();
                return Err(self.unreachable(format!("no connection within {limit:?}")));
            }
        }
        let requests = self.requests(&client).map_err(Failure::usage)?;
        let work = move |ticket: Ticket| {
            let client = client.clone();
            let request = requests.of(&client, ticket.seq);
            async move { client.call(request?).await.map_err(CallError::Http) }
        };
        let kind = move |ticket: Ticket| self.kind(ticket.seq).map(Kind::new);
        Ok(labelled(work, kind))
    }

    /// `OPTIONS`, which servers answer without any work.
    async fn round_trip(self: Arc<Self>) -> Option<Rtt> {
        let client = self.client(Connections::pool(1)).ok()?;
        let no_op = ::http::Request::options(self.render(&self.arguments.url));
        let no_op = client.request_from(no_op.body(Bytes::new()).ok()?).ok()?;
        let probe = async {
            client.prepare().await.ok()?;
            let once = async || client.call(no_op.clone()).await.map(drop);
            Rtt::probe(PROBES, once).await.ok()
        };
        tokio::time::timeout(HEALTH, probe).await.ok()?
    }

    fn health(self: Arc<Self>) -> impl Future<Output = Result<(), String>> + Send {
        // A connection and no request: the service has been asked exactly what was planned.
        let client = self.client(Connections::pool(1));
        async move {
            let client = client.map_err(|error| error.to_string())?;
            match tokio::time::timeout(HEALTH, client.prepare()).await {
                Ok(prepared) => prepared.map_err(|error| error.to_string()),
                Err(_) => Err(format!("no connection within {HEALTH:?} after the run")),
            }
        }
    }
}
