//! One connection.

use super::ask::Ask;
use super::driver::Driver;
use super::frame::{error, json, with_body};
use super::open::Then;
use crate::request::{self, Refused};
use bytes::Bytes;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::TcpStream;

/// Serves a connection until it ends. Errors of the socket are the client's business.
pub(super) async fn serve(driver: Arc<Driver>, socket: TcpStream, open: Arc<AtomicU64>) {
    open.fetch_add(1, Ordering::Relaxed);
    let mut connection = Connection {
        driver,
        socket: Arc::new(socket),
        buffer: Vec::new(),
    };
    let _ = connection.run().await;
    open.fetch_sub(1, Ordering::Relaxed);
}

struct Connection {
    driver: Arc<Driver>,
    socket: Arc<TcpStream>,
    buffer: Vec<u8>,
}

/// A request that has been read whole.
struct Request {
    path: String,
    seq: Option<u64>,
    keep_alive: bool,
    body: Bytes,
}

impl Connection {
    async fn run(&mut self) -> io::Result<()> {
        while let Some(read) = self.request().await? {
            let request = match read {
                Ok(request) => request,
                Err(Refused(status)) => {
                    return self.write(&error(status, "the request is none")).await;
                }
            };
            let then = self.respond(&request).await?;
            if then == Then::Close || !request.keep_alive {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn respond(&mut self, request: &Request) -> io::Result<Then> {
        let answer = match request.path.as_str() {
            "/v1/chat/completions" | "/v1/completions" => return self.generate(request).await,
            "/metrics" => {
                let text = self.driver.metrics();
                with_body(200, "text/plain; version=0.0.4", &text)
            }
            "/health" => json(200, r#"{"status":"ok"}"#),
            "/v1/models" => json(
                200,
                r#"{"object":"list","data":[{"id":"testbed","object":"model"}]}"#,
            ),
            _ => error(404, "File Not Found"),
        };
        self.write(&answer).await?;
        Ok(Then::Keep)
    }

    async fn generate(&mut self, request: &Request) -> io::Result<Then> {
        let is_chat = request.path == "/v1/chat/completions";
        let asked = Ask::parse(&request.body, is_chat, self.driver.block_tokens());
        let begun = match asked {
            Ok(ask) => self
                .driver
                .begin(&self.socket, request.seq, &request.path, ask),
            Err(why) => Err(error(400, &why)),
        };
        let (id, mut ended) = match begun {
            Ok(begun) => begun,
            Err(answer) => {
                self.write(&answer).await?;
                return Ok(Then::Keep);
            }
        };
        loop {
            tokio::select! {
                biased;
                then = &mut ended => return Ok(then.unwrap_or(Then::Close)),
                ready = self.socket.readable() => ready?,
            }
            // More of the next request, or the end of the client.
            if !matches!(self.read_some(), Ok(true)) {
                self.driver.cancel(id);
                return Ok(Then::Close);
            }
        }
    }

    /// The next request; `None` where the client closed instead.
    async fn request(&mut self) -> io::Result<Option<Result<Request, Refused>>> {
        loop {
            match self.parse() {
                Ok(None) => {}
                Ok(Some(request)) => return Ok(Some(Ok(request))),
                Err(refused) => return Ok(Some(Err(refused))),
            }
            self.socket.readable().await?;
            if !self.read_some()? {
                return Ok(None);
            }
        }
    }

    fn parse(&mut self) -> Result<Option<Request>, Refused> {
        let Some(head) = request::parse_head(&self.buffer)? else {
            return Ok(None);
        };
        let body = &self.buffer[head.len..];
        let Some((length, body)) = request::parse_body(body, head.body, true)? else {
            return Ok(None);
        };
        let path = String::from_utf8_lossy(&self.buffer[head.path.clone()]);
        let path = path.split('?').next().unwrap_or_default().to_owned();
        self.buffer.drain(..head.len + length);
        Ok(Some(Request {
            path,
            seq: head.seq,
            keep_alive: head.keep_alive,
            body,
        }))
    }

    /// Takes what there is; says whether the client is still there.
    fn read_some(&mut self) -> io::Result<bool> {
        let mut piece = [0; 16 * 1024];
        match self.socket.try_read(&mut piece) {
            Ok(0) => Ok(false),
            Ok(read) => {
                self.buffer.extend_from_slice(&piece[..read]);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
            Err(error) => Err(error),
        }
    }

    async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.socket.writable().await?;
            match self.socket.try_write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
