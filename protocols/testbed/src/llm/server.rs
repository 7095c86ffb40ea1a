//! A server of a language model on a thread of its own.

use super::connection;
use super::driver::Driver;
use super::log::Stream;
use super::model::{Model, Script};
use super::style::{LineEnd, RoleChunk, StreamFault, Style, UsageIn};
use crate::clock::nanos;
use crate::timer::Timer;
use crate::{Clock, On};
use openloop_capacity::batching::{ClusterConfig, EngineReport};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A language-model server on 127.0.0.1 with the interface of OpenAI's, that knows the truth it served.
///
/// [`scripted`](LlmServer::scripted) streams are the same for every request, whatever the others do.
/// [`simulated`](LlmServer::simulated) ones are those of [`openloop_capacity::batching`]: a queue, a batch, blocks of KV
/// cache and a prefix cache, told by `/metrics` in vLLM's names. A word is a token. Tokens are written to within
/// microseconds of their instants, by one thread, as long as it has a core: what it really did is in its
/// [log](LlmServer::log).
///
/// ```
/// use openloop_testbed::{LlmServer, Script};
/// use std::io::{Read, Write};
/// use std::time::Duration;
///
/// let server = LlmServer::scripted(Script { ttft: Duration::from_millis(5), gap: Duration::from_millis(1) }).start()?;
/// let body = r#"{"prompt":"say it","max_tokens":3,"stream":true}"#;
/// let mut client = std::net::TcpStream::connect(server.addr())?;
/// write!(client, "POST /v1/completions HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
/// let mut answer = String::new();
/// client.read_to_string(&mut answer)?;
/// assert_eq!(answer.matches(" tok").count(), 3);
/// let log = server.log();
/// assert!(log[0].tokens[0] - log[0].arrival >= Duration::from_millis(5));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct LlmServer {
    addr: SocketAddr,
    driver: Arc<Driver>,
    open: Arc<AtomicU64>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Builds an [`LlmServer`]; see there for an example.
#[derive(Debug)]
#[must_use = "a server runs once it is started"]
pub struct LlmServerBuilder {
    port: u16,
    source: Source,
    style: Style,
    stalls: Vec<(u64, u64)>,
}

#[derive(Debug)]
enum Source {
    Script(Script),
    Cluster(ClusterConfig),
}

impl LlmServerBuilder {
    fn new(source: Source) -> Self {
        Self {
            port: 0,
            source,
            style: Style::default(),
            stalls: Vec::new(),
        }
    }

    /// Listens on this port; 0, the default, takes a free one.
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// When the chunk with the role comes; with the first token by default.
    pub fn role(mut self, role: RoleChunk) -> Self {
        self.style.role = role;
        self
    }

    /// Where `usage` stands; in a chunk of its own, where it is asked for, by default.
    pub fn usage(mut self, usage: UsageIn) -> Self {
        self.style.usage = usage;
        self
    }

    /// So many tokens in each chunk, as with speculative decoding: it comes with the last of them. 0 counts as 1.
    pub fn tokens_per_chunk(mut self, tokens: u32) -> Self {
        self.style.tokens_per_chunk = tokens.max(1);
        self
    }

    /// The first so many tokens are reasoning.
    pub fn reasoning(mut self, tokens: u32) -> Self {
        self.style.reasoning = tokens;
        self
    }

    /// What ends the lines of the stream; LF by default.
    pub fn line_end(mut self, end: LineEnd) -> Self {
        self.style.line_end = end;
        self
    }

    /// `data:{…}` without a space.
    pub fn without_space(mut self) -> Self {
        self.style.space = false;
        self
    }

    /// No `[DONE]` at the end.
    pub fn without_done(mut self) -> Self {
        self.style.done = false;
        self
    }

    /// Closes the connection behind every answer, without having said so: as llama-server does.
    pub fn closes(mut self) -> Self {
        self.style.closes = true;
        self
    }

    /// The model ends answers by itself after so many tokens, unless the request ignores that.
    pub fn stops_after(mut self, tokens: u32) -> Self {
        self.style.stops_after = Some(tokens.max(1));
        self
    }

    /// Does this to those streams; the first rule that matches decides. Numbers and paths are those of the requests that
    /// generate.
    pub fn fault(mut self, on: On, fault: StreamFault) -> Self {
        self.style.faults.push((on, fault));
        self
    }

    /// Nothing happens in [`at`, `at + length`), counted from the first request: the model's time stands still.
    pub fn stall(mut self, at: Duration, length: Duration) -> Self {
        self.stalls.push((nanos(at), nanos(length)));
        self
    }

    /// Starts the server on a thread of its own; it listens when this returns.
    ///
    /// # Errors
    /// When the port is taken, the system refuses a socket, a timer or a thread, or, as
    /// [`InvalidInput`](io::ErrorKind::InvalidInput), the cluster cannot be.
    pub fn start(self) -> io::Result<LlmServer> {
        let model = match self.source {
            Source::Script(script) => Model::scripted(script),
            Source::Cluster(config) => Model::simulated(config)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?,
        };
        let clock = Clock::new();
        let driver = Arc::new(Driver::new(clock, model, self.style, self.stalls));
        let listener = listen(self.port)?;
        let addr = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            // The driver always has something to do where tokens are due all the time, and each of its turns writes
            // many: with tokio's 61 turns between two looks at the sockets, requests would wait for milliseconds.
            .event_interval(2)
            .build()?;
        let (listener, timer) = {
            let _inside = runtime.enter();
            (TcpListener::from_std(listener)?, Timer::new()?)
        };
        let open = Arc::new(AtomicU64::new(0));
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("testbed-llm".to_owned())
            .spawn({
                let (driver, open) = (Arc::clone(&driver), Arc::clone(&open));
                move || {
                    runtime.block_on(async {
                        tokio::select! {
                            _ = stopped => {}
                            // Without its timer the server can keep no promise: clients see it close.
                            _ = driver.run(timer) => {}
                            () = accept(listener, &driver, &open) => {}
                        }
                    });
                }
            })?;
        Ok(LlmServer {
            addr,
            driver,
            open,
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

fn listen(port: u16) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
    // Thousands of streams begin at once.
    socket.listen(4096)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

async fn accept(listener: TcpListener, driver: &Arc<Driver>, open: &Arc<AtomicU64>) {
    loop {
        match listener.accept().await {
            Ok((socket, _)) => {
                // Of a socket that is closed already this fails, and reading will say so.
                let _ = socket.set_nodelay(true);
                tokio::spawn(connection::serve(
                    Arc::clone(driver),
                    socket,
                    Arc::clone(open),
                ));
            }
            // Out of descriptors, or a client that is gone again: the former would spin.
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

impl LlmServer {
    /// Streams that are the same for every request.
    pub fn scripted(script: Script) -> LlmServerBuilder {
        LlmServerBuilder::new(Source::Script(script))
    }

    /// The engines of `openloop_capacity::batching`.
    pub fn simulated(config: ClusterConfig) -> LlmServerBuilder {
        LlmServerBuilder::new(Source::Cluster(config))
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `http://127.0.0.1:PORT`, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Every answer, in the order in which they were asked for.
    #[must_use]
    pub fn log(&self) -> Vec<Stream> {
        self.driver.log()
    }

    /// Answers under way: queued, or being generated.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.driver.under_way()
    }

    /// Connections open now.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// Every engine at this instant; none of a scripted server.
    #[must_use]
    pub fn engines(&self) -> Vec<EngineReport> {
        self.driver.engines()
    }

    /// What `/metrics` says at this instant.
    #[must_use]
    pub fn metrics(&self) -> String {
        self.driver.metrics()
    }

    /// Lets the model's time stand still from now on for a time.
    pub fn stall_for(&self, length: Duration) {
        self.driver.stall_for(length);
    }
}

impl Drop for LlmServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic of the server's thread has been printed by its hook.
            let _ = thread.join();
        }
    }
}
