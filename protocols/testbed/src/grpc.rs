//! A gRPC server by tonic that knows the truth it served.

mod builder;
mod call;
mod echo;
mod inference;
mod protos;
mod serve;

pub use builder::{GrpcServerBuilder, Reflection};
pub use call::Told;
pub use protos::descriptor_set;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use crate::driver::Driver;
use crate::log::Log;
use crate::shared::Counters;
use crate::{Clock, Served, Service};

/// The messages, clients and servers that tonic generates from the protos of this crate.
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "made by a generator"
)]
pub mod generated {
    /// The service `openloop.testbed.Echo`.
    pub mod echo {
        include!("grpc/generated/openloop.testbed.rs");
    }
    /// The service `inference.GRPCInferenceService`.
    pub mod inference {
        include!("grpc/generated/inference.rs");
    }
}

/// A gRPC server on 127.0.0.1: the four kinds of call by `openloop.testbed.Echo`, inference by KServe v2, health and
/// reflection.
///
/// What a call does its messages say: how long it takes, how many messages come back and how far apart, with which
/// status it ends (see `proto/openloop/testbed/echo.proto`). It runs on a thread of its own until it is dropped.
///
/// ```
/// use openloop_testbed::{GrpcServer, Service};
/// use std::time::Duration;
///
/// let server = GrpcServer::builder()
///     .max_concurrent_streams(10)
///     .service(Service::fixed(Duration::from_millis(100)))
///     .start()?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct GrpcServer {
    addr: SocketAddr,
    scheme: &'static str,
    ca_pem: Option<String>,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

/// What the connections and calls of one server share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) clock: Clock,
    pub(crate) driver: Driver,
    pub(crate) service: Service,
    pub(crate) log: Log,
    pub(crate) counters: Counters,
    pub(crate) cancelled: AtomicU64,
    pub(crate) told: Mutex<Option<Told>>,
    pub(crate) serving: watch::Sender<bool>,
    /// Every connection is to say goodbye and let its calls end.
    pub(crate) goaway: Notify,
    /// Every connection is to break off.
    pub(crate) cut: Notify,
    pub(crate) stopping: AtomicBool,
    pub(crate) control: Notify,
}

impl GrpcServer {
    /// A server to be scripted: instant answers, unlimited workers, no limit on streams but hyper's own, reflection in
    /// both versions, a free port.
    pub fn builder() -> GrpcServerBuilder {
        GrpcServerBuilder::new()
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Its URL. Under TLS the host is `localhost`, for which its certificate is made.
    #[must_use]
    pub fn url(&self) -> String {
        match self.scheme {
            "https" => format!("https://localhost:{}", self.addr.port()),
            scheme => format!("{scheme}://{}", self.addr),
        }
    }

    /// The certificate authority to be trusted, under TLS.
    #[must_use]
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// Every call of `Echo` and `ModelInfer` that has ended, in the order of the ends; the status is the code of gRPC,
    /// and `None` for a call that the client gave up.
    #[must_use]
    pub fn log(&self) -> Vec<Served> {
        self.state.log.read(&self.state.clock)
    }

    /// Calls of `Echo` and `ModelInfer` that have begun.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state.counters.requests.load(Ordering::Relaxed)
    }

    /// Calls that the client gave up: it reset the stream, or the connection was gone.
    #[must_use]
    pub fn cancelled(&self) -> u64 {
        self.state.cancelled.load(Ordering::Acquire)
    }

    /// Calls that are not ended.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.state.counters.in_flight.load(Ordering::Relaxed)
    }

    /// The most calls that were in flight at one time.
    #[must_use]
    pub fn in_flight_peak(&self) -> u64 {
        self.state.counters.in_flight_peak.load(Ordering::Relaxed)
    }

    /// Sockets accepted so far.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.state.counters.accepted.load(Ordering::Relaxed)
    }

    /// Connections open now.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.state.counters.open.load(Ordering::Relaxed)
    }

    /// What the last call was told beside its messages.
    #[must_use]
    pub fn last_told(&self) -> Option<Told> {
        self.state.told.lock().clone()
    }

    /// What its health says from now on: a moment later.
    pub fn set_serving(&self, serving: bool) {
        self.state.serving.send_replace(serving);
    }

    /// Sends GOAWAY on every connection that is open: calls on them go on to their end, and new ones are not taken.
    pub fn goaway(&self) {
        self.state.goaway.notify_waiters();
    }

    /// Closes every connection that is open, with the calls on them.
    pub fn cut(&self) {
        self.state.cut.notify_waiters();
    }

    /// Lets no call start from now on for a time; what is in the hands of a worker finishes.
    pub fn stall_for(&self, time: Duration) {
        self.state.driver.stall_for(time);
    }

    /// Stops: every connection is closed, and the port is free when this returns. What it knows stays readable.
    pub fn shutdown(&mut self) {
        self.state.stopping.store(true, Ordering::Release);
        self.state.control.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the server's thread has been printed by its hook.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for GrpcServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcServer")
            .field("url", &self.url())
            .field("accepted", &self.accepted())
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

impl Drop for GrpcServer {
    fn drop(&mut self) {
        self.shutdown();
    }
}
