//! The script of a server, written before it starts.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use parking_lot::Mutex;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use crate::act::Script;
use crate::cache::Looked;
use crate::certificate::{self, Certificate};
use crate::clock::nanos;
use crate::driver::Driver;
use crate::engine::Stalls;
use crate::log::Log;
use crate::server::{Flavour, accept};
use crate::shared::{Counters, Shared};
use crate::timer::Timer;
use crate::{Act, Cache, Clock, HttpServer, On, Service, Workers, hyper_flavour};

/// Builds an [`HttpServer`]; see there for an example.
#[derive(Debug)]
#[must_use = "a server runs once it is started"]
pub struct HttpServerBuilder {
    port: u16,
    service: Service,
    cache: Option<Cache>,
    workers: Workers,
    stalls: Vec<(u64, u64)>,
    script: Script,
    record_requests: bool,
    backlog: i32,
    accepting: bool,
    http2: bool,
    certificate: Option<Certificate>,
    max_concurrent_streams: Option<u32>,
}

impl HttpServerBuilder {
    pub(crate) fn new() -> Self {
        Self {
            port: 0,
            service: Service::instant(),
            cache: None,
            workers: Workers::unlimited(),
            stalls: Vec::new(),
            script: Script::default(),
            record_requests: false,
            backlog: 1024,
            accepting: true,
            http2: false,
            certificate: None,
            max_concurrent_streams: None,
        }
    }

    /// Listens on this port of 127.0.0.1; 0, the default, takes a free one.
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// How long each request takes in a worker; instant by default.
    pub fn service(self, service: Service) -> Self {
        Self { service, ..self }
    }

    /// A cache before the work, whose times stand in the place of the [service](Self::service)'s.
    pub fn cache(self, cache: Cache) -> Self {
        Self {
            cache: Some(cache),
            ..self
        }
    }

    /// How many requests are served at once and how many may wait; unlimited by default.
    pub fn workers(self, workers: Workers) -> Self {
        Self { workers, ..self }
    }

    /// Nothing starts in [`at`, `at + length`), counted from the first request. What was started
    /// before finishes. Can be said several times.
    pub fn stall(mut self, at: Duration, length: Duration) -> Self {
        self.stalls.push((nanos(at), nanos(length)));
        self
    }

    /// Does this on those requests. The first rule that matches decides, then the
    /// [path](Act::from_path), then it is a 200 with a short body.
    pub fn on(mut self, on: On, act: Act) -> Self {
        self.script.push(on, act);
        self
    }

    /// Keeps every request whole, to be [checked](HttpServer::requests); off, for speed, by default.
    pub fn record_requests(self) -> Self {
        Self {
            record_requests: true,
            ..self
        }
    }

    /// The argument of listen(2): Linux lets one connection more than this wait to be accepted and
    /// then drops SYNs.
    pub fn backlog(self, backlog: u16) -> Self {
        Self {
            backlog: i32::from(backlog),
            ..self
        }
    }

    /// Whether connections are accepted from the start; see [`HttpServer::set_accepting`].
    pub fn accepting(self, accepting: bool) -> Self {
        Self { accepting, ..self }
    }

    /// Speaks HTTP/2: known beforehand without TLS, and offered by ALPN, before HTTP/1.1, with it.
    pub fn http2(self) -> Self {
        Self {
            http2: true,
            ..self
        }
    }

    /// Speaks TLS and presents this certificate.
    pub fn tls(self, certificate: Certificate) -> Self {
        Self {
            certificate: Some(certificate),
            ..self
        }
    }

    /// Streams that a client may have open at once on one HTTP/2 connection; hyper's default is 200.
    pub fn max_concurrent_streams(self, streams: u32) -> Self {
        Self {
            max_concurrent_streams: Some(streams),
            ..self
        }
    }

    /// Starts the server on a thread of its own; it listens when this returns.
    ///
    /// # Errors
    ///
    /// When the port is taken, when the system refuses a socket, a timer or a thread, and, as
    /// [`InvalidInput`](io::ErrorKind::InvalidInput), when a rule asks for an [`Act`] that cannot be
    /// had with TLS or HTTP/2 (there: status, bytes, echo, delay and never).
    pub fn start(self) -> io::Result<HttpServer> {
        let listener = self.listen()?;
        let addr = listener.local_addr()?;
        let (flavour, ca_pem) = self.flavour()?;
        let scheme = if self.certificate.is_some() {
            "https"
        } else {
            "http"
        };
        let echoes = self.script.acts().any(|act| *act == Act::Echo);
        let keep_bodies = echoes || self.record_requests;
        let clock = Clock::new();
        let stalls = Stalls::since_first_request(self.stalls);
        let shared = Arc::new(Shared {
            clock,
            driver: Driver::new(clock, self.workers, stalls),
            service: self.service,
            cache: self.cache.map(|cache| Mutex::new(Looked::new(cache))),
            script: self.script,
            log: Log::default(),
            counters: Counters::default(),
            keep_bodies,
            recorded: self.record_requests.then(Mutex::default),
            accepting: AtomicBool::new(self.accepting),
            control: Notify::new(),
            stopping: AtomicBool::new(false),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (listener, timer) = {
            let _inside = runtime.enter();
            (TcpListener::from_std(listener)?, Timer::new()?)
        };
        let thread = std::thread::Builder::new()
            .name("testbed-http".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || runtime.block_on(accept(listener, shared, flavour, timer))
            })?;
        Ok(HttpServer {
            addr,
            scheme,
            ca_pem,
            shared,
            thread: Some(thread),
        })
    }

    fn listen(&self) -> io::Result<std::net::TcpListener> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)).into())?;
        socket.listen(self.backlog)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    }

    fn flavour(&self) -> io::Result<(Flavour, Option<String>)> {
        if !self.http2 && self.certificate.is_none() {
            return Ok((Flavour::Plain, None));
        }
        if let Some(act) = self.script.acts().find(|act| !hyper_flavour::supports(act)) {
            let message =
                format!("{act:?} is scripted, which TLS and HTTP/2 do not offer: leave both out");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let mut tls = None;
        let mut ca_pem = None;
        if let Some(certificate) = self.certificate {
            let protocols: &[_] = if self.http2 {
                &["h2", "http/1.1"]
            } else {
                &["http/1.1"]
            };
            let (pem, config) = certificate::server_config(certificate, protocols)?;
            tls = Some(TlsAcceptor::from(config));
            ca_pem = Some(pem);
        }
        let flavour = hyper_flavour::Flavour {
            tls,
            max_concurrent_streams: self.max_concurrent_streams,
        };
        Ok((Flavour::Hyper(flavour), ca_pem))
    }
}

impl fmt::Debug for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.write_str("Plain"),
            Self::Hyper(flavour) => flavour.fmt(f),
        }
    }
}
