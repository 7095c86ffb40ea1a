//! The client.

use crate::channel::{Channel, Tracker};
use crate::channels::Channels;
use crate::deadline::{self, Passed};
use crate::exchange::{self, OnMessage};
use crate::head::Heads;
use crate::reply::Answer;
use crate::{Builder, Called, GrpcError, GrpcErrorKind, Reply, Request, Stages, health};
use bytes::Bytes;
use openloop_measurer::Operation;
use openloop_net::SocketCounts;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;

/// So often a call that the server has seen nothing of looks for another connection.
pub(crate) const TRIES: u32 = 5;

/// A gRPC client for one server, as an [`Operation`]: it shows every wait on our side of the wire.
///
/// Cloning is cheap; clones share the connections.
///
/// ```
/// # use openloop_grpc::{Grpc, Request};
/// # use openloop_measurer::Operation;
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let grpc = Grpc::builder("http://127.0.0.1:50051").channels(4).build()?;
/// grpc.prepare().await?; // opens the connections: what cannot be reached is known before any load
/// let message = b"\x0a\x05world"; // as it is encoded: field 1 is "world"
/// let reply = grpc.call(Request::unary("hello.Greeter/SayHello", message)?).await?;
/// println!("waited {:?} for a stream", reply.stages().acquire);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Grpc(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    channels: Channels,
    heads: Heads,
    deadline: Option<Duration>,
    endpoint: (String, u16),
}

impl Grpc {
    /// Starts a client for the server of `url`, such as `http://host:50051`, or `https://` for TLS.
    pub fn builder(url: &str) -> Builder {
        Builder::new(url)
    }

    pub(crate) fn new(
        channels: Channels,
        heads: Heads,
        deadline: Option<Duration>,
        endpoint: (String, u16),
    ) -> Self {
        Grpc(Arc::new(Inner {
            channels,
            heads,
            deadline,
            endpoint,
        }))
    }

    pub(crate) fn channels(&self) -> &Channels {
        &self.0.channels
    }

    pub(crate) fn heads(&self) -> &Heads {
        &self.0.heads
    }

    /// The limit of a call that says none of its own.
    pub(crate) fn default_deadline(&self) -> Option<Duration> {
        self.0.deadline
    }

    /// Opens the connections before the run starts, so that opening them is no part of it, and waits for the server's
    /// settings, its limit on streams among them.
    ///
    /// # Errors
    ///
    /// The first failure: an unreachable host or a certificate that does not verify is known before any load.
    pub async fn prepare(&self) -> Result<(), GrpcError> {
        self.0.channels.prepare().await.map_err(without_stages)
    }

    /// Host and port of the URL.
    #[must_use]
    pub fn endpoint(&self) -> (&str, u16) {
        (&self.0.endpoint.0, self.0.endpoint.1)
    }

    /// How many connections there are at most.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        self.0.channels.count()
    }

    /// Streams that the server allows at once on a connection, the fewest of all that are open; `None` before
    /// [`prepare`](Self::prepare), `usize::MAX` where it names no limit.
    #[must_use]
    pub fn max_concurrent_streams(&self) -> Option<usize> {
        self.0.channels.streams()
    }

    /// Sockets opened, closed and used again by this client, [`prepare`](Self::prepare) included.
    #[must_use]
    pub fn sockets(&self) -> &SocketCounts {
        self.0.channels.dialer.counts()
    }

    /// One round trip by a ping of HTTP/2, which the server's transport answers and none of its services sees.
    ///
    /// # Errors
    ///
    /// Where no connection can be opened, or the ping is not answered.
    pub async fn ping(&self) -> Result<Duration, GrpcError> {
        self.0.channels.ping().await.map_err(without_stages)
    }

    /// Asks for the health of a service, or of the whole server by the empty name, by `grpc.health.v1`.
    ///
    /// # Errors
    ///
    /// As for [`call`](Operation::call): `grpc_unimplemented` where the server has no such service, `grpc_not_found`
    /// where it does not know the name.
    pub async fn health(&self, service: &str) -> Result<crate::Health, GrpcError> {
        health::check(self, service).await
    }

    /// Like [`call`](Operation::call), and shows each message of the answer to `on_message` as it arrives, as it is
    /// encoded.
    ///
    /// What `on_message` takes is part of the call.
    ///
    /// # Errors
    ///
    /// As for [`call`](Operation::call).
    pub async fn call_with(
        &self,
        request: Request,
        mut on_message: impl FnMut(Bytes) + Send,
    ) -> Result<Reply, GrpcError> {
        self.measured(&request, Some(&mut on_message)).await
    }

    /// Makes a call by a generated client, or several: `call` is given a channel to build the client on, which measures
    /// what goes over it. Streams are to be read to their end inside.
    ///
    /// ```
    /// # use openloop_grpc::Grpc;
    /// # async fn run(grpc: Grpc) -> Result<(), openloop_grpc::GrpcError> {
    /// let called = grpc
    ///     .by(async |channel| {
    ///         // let mut client = GreeterClient::new(channel);
    ///         // client.say_hello(HelloRequest { name: "world".into() }).await
    ///         # drop(channel);
    ///         # Ok::<(), tonic::Status>(())
    ///     })
    ///     .await?;
    /// println!("waited {:?} for a stream", called.stages().acquire);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// What the closure returned, named by its true reason where the failure was not the server's status.
    pub async fn by<T, F, C>(&self, call: C) -> Result<Called<T>, GrpcError>
    where
        C: FnOnce(Channel) -> F,
        F: Future<Output = Result<T, Status>>,
    {
        let tracker = Tracker::default();
        let result = call(Channel::new(self.clone(), tracker.clone())).await;
        let (stages, fault) = tracker.finish();
        match result {
            Ok(value) => Ok(Called { value, stages }),
            Err(status) => Err(GrpcError {
                kind: fault.unwrap_or_else(|| tracker.of_status(status)),
                stages: Box::new(stages),
            }),
        }
    }

    async fn measured(
        &self,
        request: &Request,
        on_message: Option<OnMessage<'_>>,
    ) -> Result<Reply, GrpcError> {
        let mut stages = Stages::default();
        match self.answer(request, &mut stages, on_message).await {
            Ok(answer) => Ok(Reply::new(answer, stages)),
            Err(kind) => Err(GrpcError {
                kind,
                stages: Box::new(stages),
            }),
        }
    }

    async fn answer(
        &self,
        request: &Request,
        stages: &mut Stages,
        mut on_message: Option<OnMessage<'_>>,
    ) -> Result<Answer, GrpcErrorKind> {
        let begun = Instant::now();
        let limit = request.own_deadline().or(self.0.deadline);
        let until = limit.and_then(|limit| begun.checked_add(limit));
        let passed = |_: Passed| GrpcErrorKind::Deadline {
            after: limit.unwrap_or_default(),
        };
        let mut tries = 0;
        loop {
            tries += 1;
            let leased = deadline::until(until, self.0.channels.lease(stages)).await;
            let mut place = leased.map_err(passed)??;
            let head = self
                .0
                .heads
                .of(request.path(), request.own_metadata(), until);
            let on_message = on_message.as_mut().map(|on_message| &mut **on_message as _);
            let connection = &mut place.connection;
            let failure = match exchange::exchange(
                connection, head, request, until, stages, on_message,
            )
            .await
            {
                Ok(answer) => {
                    if stages.reused {
                        self.0.channels.dialer.counts().count_reuse();
                    }
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            if failure.ends_connection {
                place.connection.retire();
            }
            let may_retry = (failure.refused && stages.retries == 0) || failure.unsent;
            if !may_retry || tries == TRIES {
                return Err(match failure.kind {
                    GrpcErrorKind::Deadline { .. } => passed(Passed),
                    GrpcErrorKind::Status(status) if deadline::is_due(until, &status) => {
                        passed(Passed)
                    }
                    kind => place.connection.explain(kind).await,
                });
            }
            stages.retries += u32::from(!failure.unsent);
        }
    }
}

pub(crate) fn without_stages(kind: GrpcErrorKind) -> GrpcError {
    GrpcError {
        kind,
        stages: Box::default(),
    }
}

impl Operation for Grpc {
    type Request = Request;
    type Reply = Reply;
    type Error = GrpcError;

    async fn call(&self, request: Request) -> Result<Reply, GrpcError> {
        self.measured(&request, None).await
    }
}
