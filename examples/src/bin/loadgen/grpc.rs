//! `loadgen grpc`.

mod args;
mod calls;
mod mix;

pub(crate) use args::GrpcArgs;
pub(crate) use mix::{GrpcMix, read as read_mix};

use crate::arrivals::Replay;
use crate::command::without_password;
use crate::connections::{HEALTH, PROBES};
use crate::exit::Failure;
use crate::kinds;
use crate::protocol::{Connecting, Observed, Protocol, share};
use calls::{CallError, Calls, Methods};
use openloop_experiment::drive::{Monitor, ShardOf};
use openloop_experiment::{Rtt, Work, labelled};
use openloop_grpc::{BuildError, Grpc, GrpcError, Health, Schema, SchemaError};
use openloop_measurer::{Kind, Operation};
use openloop_sched::Ticket;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::OnceCell;

/// A gRPC server, and what is asked of it.
#[derive(Debug)]
pub(crate) struct GrpcLoad {
    arguments: GrpcArgs,
    /// The URL without what is secret in it.
    target: String,
    host: String,
    port: u16,
    mix: Option<Arc<GrpcMix>>,
    /// Empty until the server has told what its methods are, where no file did.
    calls: OnceCell<Calls>,
    /// What the server allows on a connection; 0 before it is known.
    streams: AtomicUsize,
}

impl GrpcLoad {
    /// # Errors
    /// When the flags do not make a request: all that can be told without a connection.
    pub(crate) fn new(arguments: &GrpcArgs, replay: Option<&Replay>) -> Result<Self, Failure> {
        arguments.check().map_err(Failure::Usage)?;
        let trace = kinds::rows(replay, &arguments.load);
        let mix = arguments.mix(trace).map_err(Failure::Usage)?;
        let keys = mix.iter().flat_map(GrpcMix::keys);
        let keys = arguments.keys.iter().chain(keys);
        kinds::check_order(keys, &arguments.load).map_err(Failure::Usage)?;
        let mut load = GrpcLoad {
            arguments: arguments.clone(),
            target: without_password(&arguments.url),
            host: String::new(),
            port: 0,
            mix: mix.map(Arc::new),
            calls: OnceCell::new(),
            streams: AtomicUsize::new(0),
        };
        for name in load.names() {
            service_of(&name).map_err(|error| usage(&error))?;
        }
        let client = load.client(1)?;
        let (host, port) = client.endpoint();
        (load.host, load.port) = (host.to_owned(), port);
        if let Some(schema) = arguments.schema().map_err(Failure::Usage)? {
            let find = |name: &str| schema.method(name);
            let methods = Methods::find(&load.names(), find).map_err(|error| usage(&error))?;
            load.calls = OnceCell::new_with(Some(load.calls(&methods)?));
        }
        Ok(load)
    }

    /// The methods that are called.
    fn names(&self) -> Vec<String> {
        match &self.mix {
            Some(mix) => mix.methods().map(str::to_owned).collect(),
            None => self.arguments.method.iter().cloned().collect(),
        }
    }

    fn calls(&self, methods: &Methods) -> Result<Calls, Failure> {
        Calls::new(&self.arguments, self.mix.clone(), methods).map_err(Failure::Usage)
    }

    fn client(&self, channels: usize) -> Result<Grpc, Failure> {
        let arguments = &self.arguments;
        let mut client = Grpc::builder(&arguments.url).channels(channels);
        for (name, value) in &arguments.metadata {
            client = client.metadata(name, value);
        }
        if let Some(limit) = arguments.deadline {
            client = client.deadline(limit);
        }
        if let Some(authority) = &arguments.authority {
            client = client.authority(authority);
        }
        if let Some(tls) = arguments.tls().map_err(Failure::Usage)? {
            client = client.tls(tls);
        }
        client
            .build()
            .map_err(|error: BuildError| Failure::usage(error))
    }

    /// Asks the server what its methods are, unless a file has told it.
    async fn reflect(&self, client: &Grpc) -> Result<Calls, Failure> {
        let mut schemas: Vec<(String, Schema)> = Vec::new();
        for name in self.names() {
            let service = service_of(&name).map_err(|error| usage(&error))?.to_owned();
            if schemas.iter().all(|(known, _)| *known != service) {
                let schema = Schema::by_reflection(client, &service).await;
                let schema = schema.map_err(|error| self.blame_schema(error))?;
                schemas.push((service, schema));
            }
        }
        let find = |name: &str| {
            let service = service_of(name)?;
            let found = schemas.iter().find(|(known, _)| known == service);
            let schema = found.map(|(_, schema)| schema.method(name));
            schema.unwrap_or_else(|| Err(no_name(name)))
        };
        let methods =
            Methods::find(&self.names(), find).map_err(|error| self.blame_schema(error))?;
        self.calls(&methods)
    }

    fn blame_schema(&self, error: SchemaError) -> Failure {
        match error {
            SchemaError::Call(error) => self.blame(&error),
            error => usage(&error),
        }
    }

    fn unreachable(&self, why: impl std::fmt::Display) -> Failure {
        Failure::Unreachable(format!("{} cannot be reached: {why}", self.target))
    }

    /// Whose fault it is that no connection could be opened.
    fn blame(&self, error: &GrpcError) -> Failure {
        if error.class().starts_with("client_") {
            return Failure::Machine(error.to_string());
        }
        self.unreachable(error)
    }
}

/// The service of a method.
fn service_of(method: &str) -> Result<&str, SchemaError> {
    let bare = method.strip_prefix('/').unwrap_or(method);
    let service = bare.split_once('/').map(|(service, _)| service);
    service.ok_or_else(|| no_name(method))
}

fn no_name(method: &str) -> SchemaError {
    SchemaError::Name {
        method: method.to_owned(),
    }
}

/// Most servers have no health service, or it does not know the name of the whole, or is not for everybody: they answer,
/// and that is all that is known.
fn says_nothing(error: &GrpcError) -> bool {
    [
        "grpc_unimplemented",
        "grpc_not_found",
        "grpc_permission_denied",
        "grpc_unauthenticated",
    ]
    .contains(&error.class())
}

/// What is to be done is in the flags of this program.
fn usage(error: &SchemaError) -> Failure {
    Failure::Usage(match error {
        SchemaError::NoReflection => {
            format!("{error}: --proto FILE or --descriptor-set FILE")
        }
        error => error.to_string(),
    })
}

impl Protocol for GrpcLoad {
    fn endpoint(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    fn target(&self) -> &str {
        &self.target
    }

    fn describe(&self) -> String {
        let channels = match self.arguments.channels {
            1 => "1 channel".to_owned(),
            count => format!("{count} channels"),
        };
        let to = format!("at {} over {channels}", self.target);
        match (&self.mix, &self.arguments.method) {
            (Some(mix), _) => mix.describe(&to),
            (None, method) => format!("{} {to}", method.as_deref().unwrap_or_default()),
        }
    }

    fn kinds(&self) -> Vec<&str> {
        self.mix.iter().flat_map(|mix| mix.names()).collect()
    }

    fn kind(&self, seq: u64) -> Option<usize> {
        let mix = self.mix.as_ref()?;
        Some(mix.pick(self.arguments.load.schedule.seed, seq).0)
    }

    fn asked(&self, numbers: &[u64]) -> Vec<String> {
        let Some(calls) = self.calls.get() else {
            return Vec::new();
        };
        let asked = |seq: &u64| format!("{:?}", calls.of(*seq));
        numbers.iter().map(asked).collect()
    }

    fn stages(&self) -> &'static [&'static str] {
        &[
            "acquire",
            "dns",
            "connect",
            "tls",
            "upload",
            "first_message",
            "message_gap",
            "reply",
        ]
    }

    fn connecting(&self) -> Connecting {
        Connecting::Pool(self.arguments.channels)
    }

    async fn connect(self: Arc<Self>, shard: ShardOf) -> Result<impl Work, Failure> {
        let client = self.client(share(self.arguments.channels, shard))?;
        let set_up = async {
            client.prepare().await.map_err(|error| self.blame(&error))?;
            let calls = self.calls.get_or_try_init(|| self.reflect(&client)).await?;
            Ok::<_, Failure>(calls.clone())
        };
        let limit = self.connecting().set_up_limit();
        let calls = match tokio::time::timeout(limit, set_up).await {
            Ok(calls) => calls?,
            Err(_) => return Err(self.unreachable(format!("nothing came of it within {limit:?}"))),
        };
        if let Some(streams) = client.max_concurrent_streams() {
            self.streams.store(streams, Ordering::Relaxed);
        }
        let work = move |ticket: Ticket| {
            let client = client.clone();
            let request = calls.of(ticket.seq);
            async move { client.call(request?).await.map_err(CallError::Grpc) }
        };
        let kind = move |ticket: Ticket| self.kind(ticket.seq).map(Kind::new);
        Ok(labelled(work, kind))
    }

    /// A ping of HTTP/2.
    async fn round_trip(self: Arc<Self>) -> Option<Rtt> {
        let client = self.client(1).ok()?;
        let probe = async {
            client.prepare().await.ok()?;
            let once = async || client.ping().await.map(drop);
            Rtt::probe(PROBES, once).await.ok()
        };
        tokio::time::timeout(HEALTH, probe).await.ok()?
    }

    /// By the server's own word, where it has a health service.
    fn health(self: Arc<Self>) -> impl Future<Output = Result<(), String>> + Send {
        let client = self.client(1);
        async move {
            let client = client.map_err(|error| error.to_string())?;
            let check = async {
                client.prepare().await.map_err(|error| error.to_string())?;
                match client.health("").await {
                    Ok(Health::NotServing) => {
                        Err("the server says that it does not serve".to_owned())
                    }
                    Ok(_) => Ok(()),
                    Err(error) if says_nothing(&error) => Ok(()),
                    Err(error) => Err(error.to_string()),
                }
            };
            match tokio::time::timeout(HEALTH, check).await {
                Ok(checked) => checked,
                Err(_) => Err(format!("no answer within {HEALTH:?} after the run")),
            }
        }
    }

    /// How many calls it takes at once on a connection, where it names a limit.
    async fn observe(self: Arc<Self>, run: Monitor) -> Vec<Observed> {
        let (begins, _) = crate::protocol::steady(&run);
        begins.await;
        match self.streams.load(Ordering::Relaxed) {
            0 | usize::MAX => Vec::new(),
            #[expect(clippy::cast_precision_loss, reason = "a limit has 32 bits")]
            streams => vec![("max_concurrent_streams", streams as f64)],
        }
    }
}
