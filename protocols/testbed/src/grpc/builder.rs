//! The script of a gRPC server, written before it starts.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;

use super::serve::{Settings, accept};
use super::{GrpcServer, State, protos};
use crate::certificate::{self, Certificate};
use crate::driver::Driver;
use crate::engine::Stalls;
use crate::log::Log;
use crate::shared::Counters;
use crate::timer::Timer;
use crate::{Clock, Service, Workers};

/// Which versions of reflection a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reflection {
    /// `grpc.reflection.v1` and `v1alpha`.
    Both,
    /// `v1alpha` alone, as older servers.
    Alpha,
    /// None.
    Absent,
}

/// Builds a [`GrpcServer`]; see there for an example.
#[derive(Debug)]
#[must_use = "a server runs once it is started"]
pub struct GrpcServerBuilder {
    port: u16,
    service: Service,
    workers: Workers,
    max_concurrent_streams: Option<u32>,
    reflection: Reflection,
    has_health: bool,
    certificate: Option<Certificate>,
}

impl GrpcServerBuilder {
    pub(crate) fn new() -> Self {
        Self {
            port: 0,
            service: Service::instant(),
            workers: Workers::unlimited(),
            max_concurrent_streams: None,
            reflection: Reflection::Both,
            has_health: true,
            certificate: None,
        }
    }

    /// The port of 127.0.0.1; a free one by default.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// How long calls take in a worker.
    pub fn service(mut self, service: Service) -> Self {
        self.service = service;
        self
    }

    /// How many calls are worked on at once and how many may wait; beyond them the status is `RESOURCE_EXHAUSTED`.
    pub fn workers(mut self, workers: Workers) -> Self {
        self.workers = workers;
        self
    }

    /// Calls at once on one connection.
    pub fn max_concurrent_streams(mut self, most: u32) -> Self {
        self.max_concurrent_streams = Some(most);
        self
    }

    /// Which versions of reflection there are.
    pub fn reflection(mut self, reflection: Reflection) -> Self {
        self.reflection = reflection;
        self
    }

    /// Leaves the health service out.
    pub fn without_health(mut self) -> Self {
        self.has_health = false;
        self
    }

    /// Speaks TLS, with this certificate.
    pub fn tls(mut self, certificate: Certificate) -> Self {
        self.certificate = Some(certificate);
        self
    }

    /// Starts it.
    ///
    /// # Errors
    ///
    /// When the port is taken, or when the system refuses a socket, a timer or a thread.
    pub fn start(self) -> io::Result<GrpcServer> {
        let listener = self.listen()?;
        let addr = listener.local_addr()?;
        let (tls, ca_pem) = match self.certificate {
            None => (None, None),
            Some(certificate) => {
                let (pem, config) = certificate::server_config(certificate, &["h2"])?;
                (Some(TlsAcceptor::from(config)), Some(pem))
            }
        };
        let clock = Clock::new();
        let (serving, is_serving) = watch::channel(true);
        let state = Arc::new(State {
            clock,
            driver: Driver::new(clock, self.workers, Stalls::default()),
            service: self.service,
            log: Log::default(),
            counters: Counters::default(),
            cancelled: Default::default(),
            told: Mutex::new(None),
            serving,
            goaway: Notify::new(),
            cut: Notify::new(),
            stopping: AtomicBool::new(false),
            control: Notify::new(),
        });
        let settings = Settings {
            tls,
            max_concurrent_streams: self.max_concurrent_streams,
            reflection: self.reflection,
            health: self.has_health.then_some(is_serving),
            descriptors: protos::descriptors()?,
        };
        let scheme = match ca_pem {
            Some(_) => "https",
            None => "http",
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (listener, timer) = {
            let _inside = runtime.enter();
            (TcpListener::from_std(listener)?, Timer::new()?)
        };
        let thread = std::thread::Builder::new()
            .name("testbed-grpc".to_owned())
            .spawn({
                let state = Arc::clone(&state);
                move || runtime.block_on(accept(listener, state, settings, timer))
            })?;
        Ok(GrpcServer {
            addr,
            scheme,
            ca_pem,
            state,
            thread: Some(thread),
        })
    }

    fn listen(&self) -> io::Result<std::net::TcpListener> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)).into())?;
        socket.listen(1024)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    }
}
