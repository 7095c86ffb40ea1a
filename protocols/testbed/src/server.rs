//! A scripted server on a thread of its own.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

use crate::request::RecordedRequest;
use crate::shared::Shared;
use crate::timer::Timer;
use crate::{Clock, HttpServerBuilder, Served, connection, hyper_flavour};

/// A scripted HTTP server on 127.0.0.1 that knows the truth it served.
///
/// It runs on a thread of its own until it is dropped. HTTP/1.1 is spoken by a codec of its own, so
/// that one core serves more than any generator asks of it; TLS and HTTP/2 by hyper.
///
/// # Examples
///
/// A single FIFO worker with exponential service times, which pauses for 1 s:
///
/// ```
/// use std::io::{Read, Write};
/// use std::time::Duration;
/// use openloop_testbed::{HttpServer, Service, Workers};
///
/// let server = HttpServer::builder()
///     .service(Service::exponential(Duration::from_millis(1), 7))
///     .workers(Workers::one())
///     .stall(Duration::from_secs(5), Duration::from_secs(1)) // nothing starts in [5 s, 6 s)
///     .start()?;
///
/// let mut client = std::net::TcpStream::connect(server.addr())?;
/// client.write_all(b"GET / HTTP/1.1\r\nopenloop-seq: 3\r\nconnection: close\r\n\r\n")?;
/// client.read_to_string(&mut String::new())?;
///
/// let log = server.log();
/// assert_eq!(log[0].seq, Some(3));
/// assert!(log[0].departure > Some(log[0].arrival));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct HttpServer {
    pub(crate) addr: SocketAddr,
    pub(crate) scheme: &'static str,
    pub(crate) ca_pem: Option<String>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    /// A server to be scripted: instant answers, unlimited workers, HTTP/1.1, a free port.
    pub fn builder() -> HttpServerBuilder {
        HttpServerBuilder::new()
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The URL of a path on it. Under TLS the host is `localhost`, for which its certificate is made.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let slash = if path.starts_with('/') { "" } else { "/" };
        match self.scheme {
            "https" => format!("https://localhost:{}{slash}{path}", self.addr.port()),
            scheme => format!("{scheme}://{}{slash}{path}", self.addr),
        }
    }

    /// Every request it has read and decided about, in the order of the answers.
    #[must_use]
    pub fn log(&self) -> Vec<Served> {
        self.shared.log.read(&self.shared.clock)
    }

    /// How many requests the log holds.
    #[must_use]
    pub fn served(&self) -> usize {
        self.shared.log.len()
    }

    /// Writes the log as CSV for another process on this machine: columns
    /// `seq,conn,arrival_ns,start_ns,departure_ns,status`, instants in nanoseconds of
    /// `CLOCK_MONOTONIC`, empty where there is none.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_log_csv(&self, out: impl io::Write) -> io::Result<()> {
        self.shared.log.write_csv(out)
    }

    /// The clock of the log, which converts its instants to `CLOCK_MONOTONIC`.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.shared.clock
    }

    /// Sockets accepted so far.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.shared.counters.accepted.load(Ordering::Relaxed)
    }

    /// Connections open now.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.shared.counters.open.load(Ordering::Relaxed)
    }

    /// TLS handshakes that failed, as when the client does not trust the certificate.
    #[must_use]
    pub fn failed_handshakes(&self) -> u64 {
        self.shared
            .counters
            .failed_handshakes
            .load(Ordering::Relaxed)
    }

    /// Requests that found their key in the [cache](HttpServerBuilder::cache); 0 without one.
    #[must_use]
    pub fn cache_hits(&self) -> u64 {
        let cache = self.shared.cache.as_ref();
        cache.map_or(0, |cache| cache.lock().hits)
    }

    /// Requests that did not; 0 without a cache.
    #[must_use]
    pub fn cache_misses(&self) -> u64 {
        let cache = self.shared.cache.as_ref();
        cache.map_or(0, |cache| cache.lock().misses)
    }

    /// The most requests that were in the hands of workers at one time.
    #[must_use]
    pub fn in_service_peak(&self) -> u64 {
        u64::try_from(self.shared.driver.in_service_peak()).unwrap_or(u64::MAX)
    }

    /// Requests that have been read and not yet answered: in service, waiting, or held.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.shared.counters.in_flight.load(Ordering::Relaxed)
    }

    /// The most requests that were in flight at one time.
    #[must_use]
    pub fn in_flight_peak(&self) -> u64 {
        self.shared.counters.in_flight_peak.load(Ordering::Relaxed)
    }

    /// The requests received so far, if the server was built to
    /// [record them](HttpServerBuilder::record_requests); else none.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared
            .recorded
            .as_ref()
            .map(|recorded| recorded.lock().clone())
            .unwrap_or_default()
    }

    /// The last of [`requests`](Self::requests).
    #[must_use]
    pub fn last_request(&self) -> Option<RecordedRequest> {
        self.shared.recorded.as_ref()?.lock().last().cloned()
    }

    /// The certificate authority to be trusted, under TLS: one that has signed the server's
    /// certificate, unless it was told to present [another one](crate::Certificate).
    #[must_use]
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// Lets nothing start from now on for a time; what is in the hands of a worker finishes.
    pub fn stall_for(&self, time: Duration) {
        self.shared.driver.stall_for(time);
    }

    /// Stops or resumes accepting. Meanwhile connections queue in the kernel up to the
    /// [backlog](HttpServerBuilder::backlog), and then their SYNs are dropped and sent again by the
    /// client after 1, 3 and 7 s.
    pub fn set_accepting(&self, accepting: bool) {
        self.shared.accepting.store(accepting, Ordering::Release);
        self.shared.control.notify_one();
    }

    /// Stops: every connection is closed, and the port is free when this returns. What it knows
    /// stays readable.
    pub fn shutdown(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.control.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the server's thread has been printed by its hook.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for HttpServer {
    /// Without the log, which can hold millions of requests.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer")
            .field("url", &self.url("/"))
            .field("accepted", &self.accepted())
            .field("open", &self.open())
            .field("served", &self.served())
            .finish_non_exhaustive()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.shutdown();
    }
}

/// How connections are spoken with.
#[derive(Clone)]
pub(crate) enum Flavour {
    Plain,
    Hyper(hyper_flavour::Flavour),
}

/// Accepts until the server stops.
pub(crate) async fn accept(
    listener: TcpListener,
    shared: Arc<Shared>,
    flavour: Flavour,
    timer: Timer,
) {
    let mut driver = tokio::spawn({
        let shared = Arc::clone(&shared);
        async move { shared.driver.run(timer).await }
    });
    loop {
        if shared.stopping.load(Ordering::Acquire) {
            return;
        }
        if !shared.accepting.load(Ordering::Acquire) {
            shared.control.notified().await;
            continue;
        }
        tokio::select! {
            () = shared.control.notified() => {}
            // Without its timer the server can keep no promise: clients see it close.
            _ = &mut driver => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => greet(stream, &shared, &flavour),
                // Out of descriptors, or a client that is gone again: neither ends a server, but the
                // former would spin.
                Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            },
        }
    }
}

fn greet(stream: TcpStream, shared: &Arc<Shared>, flavour: &Flavour) {
    let number = shared.counters.accepted.fetch_add(1, Ordering::Relaxed);
    // Of a socket that is closed already this fails, and reading will say so.
    let _ = stream.set_nodelay(true);
    match flavour {
        Flavour::Plain => {
            tokio::spawn(connection::serve(Arc::clone(shared), stream, number));
        }
        Flavour::Hyper(flavour) => {
            tokio::spawn(hyper_flavour::serve(
                Arc::clone(shared),
                stream,
                number,
                flavour.clone(),
            ));
        }
    }
}
