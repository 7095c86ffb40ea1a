//! `loadgen http`.

mod args;
mod mix;
mod requests;

pub(crate) use args::HttpArgs;
pub(crate) use mix::{HttpKind, HttpMix, read as read_mix};

use crate::arrivals::Replay;
use crate::connections::{HEALTH, PROBES, reached};
use crate::exit::Failure;
use crate::kinds;
use crate::protocol::{Connecting, Protocol, share};
use ::http::Uri;
use bytes::Bytes;
use openloop_experiment::drive::ShardOf;
use openloop_experiment::{Plan, Rtt, Work, labelled};
use openloop_http::{BuildError, Connections, Http, HttpError, Request, Tls, Version};
use openloop_measurer::{Kind, Operation};
use openloop_sched::Ticket;
use requests::{CallError, Nonce, Requests};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An HTTP service, and what is asked of it.
#[derive(Debug)]
pub(crate) struct HttpLoad {
    arguments: HttpArgs,
    /// The name of the target, without the brackets of an IPv6 address.
    host: String,
    port: u16,
    tls: Option<Tls>,
    mix: Option<Arc<HttpMix>>,
    /// Of the run that is made: see [`requests::Nonce`].
    nonce: AtomicU64,
}

impl HttpLoad {
    /// # Errors
    /// When the flags do not make a request: all that can be told without a connection.
    pub(crate) fn new(arguments: &HttpArgs, replay: Option<&Replay>) -> Result<Self, Failure> {
        arguments.check().map_err(Failure::Usage)?;
        let trace = kinds::rows(replay, &arguments.load);
        let mix = arguments.mix(trace).map_err(Failure::Usage)?;
        let keys = mix.iter().flat_map(HttpMix::keys);
        let keys = arguments.keys.iter().chain(keys);
        kinds::check_order(keys, &arguments.load).map_err(Failure::Usage)?;
        let mut load = HttpLoad {
            arguments: arguments.clone(),
            host: String::new(),
            port: 0,
            tls: arguments.tls().map_err(Failure::Usage)?,
            mix: mix.map(Arc::new),
            nonce: AtomicU64::new(0),
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
        let mut client = Http::builder(&self.nonce().url(&self.render(&arguments.url)))
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
        self.nonce()
            .text(&requests::render(text, &self.arguments, 0))
    }

    fn nonce(&self) -> Nonce {
        Nonce::new(&self.arguments, self.nonce.load(Ordering::Relaxed))
    }

    fn requests(&self, client: &Http) -> Result<Requests, CallError> {
        match &self.mix {
            Some(mix) => Requests::mixed(mix.clone(), self.seed(), client, self.nonce()),
            None => Ok(Requests::new(&self.arguments, client, self.nonce())),
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

/// What headers say is nobody's business, and may be another for each machine.
fn shown(request: &Request) -> String {
    let names: Vec<_> = request.headers().keys().collect();
    let (method, uri, body) = (request.method(), request.uri(), request.body());
    format!("{method} {uri} {names:?} {body:?}")
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
        let connections = self.connecting().shown();
        let Some(mix) = &self.mix else {
            let (method, url) = (arguments.method(), &arguments.url);
            return format!("{method} {url} over {connections}");
        };
        mix.describe(&format!("to {} over {connections}", arguments.url))
    }

    fn kinds(&self) -> Vec<&str> {
        self.mix.iter().flat_map(|mix| mix.names()).collect()
    }

    fn kind(&self, seq: u64) -> Option<usize> {
        let mix = self.mix.as_ref()?;
        Some(mix.pick(self.seed(), seq).0)
    }

    fn asked(&self, numbers: &[u64]) -> Vec<String> {
        let Ok(client) = self.client(self.connections(1)) else {
            return Vec::new();
        };
        let Ok(requests) = self.requests(&client) else {
            return Vec::new();
        };
        let asked = |seq: &u64| match requests.of(&client, *seq) {
            Ok(request) => shown(&request),
            Err(error) => error.to_string(),
        };
        numbers.iter().map(asked).collect()
    }

    fn stages(&self) -> &'static [&'static str] {
        &["acquire", "dns", "connect", "tls", "first_byte", "body"]
    }

    fn begin(&self, plan: &Plan) {
        self.nonce.store(plan.nonce(), Ordering::Relaxed);
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
        let client = self
            .client(self.connections(size))
            .map_err(Failure::usage)?;
        match tokio::time::timeout(self.connecting().set_up_limit(), client.prepare()).await {
            Ok(prepared) => prepared.map_err(|error| self.blame(&error))?,
            Err(_) => {
                let limit = self.connecting().set_up_limit();
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
            reached(client.prepare()).await
        }
    }
}
