//! One HTTP/1.1 connection of the scripted server.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Act;
use crate::answer::{self, Answer, Then};
use crate::log::Entry;
use crate::request::{self, BodyLength, Head, Refused};
use crate::shared::{Held, Shared};

/// Enough for a request of a load generator; it grows where that is not so.
const BUFFER: usize = 1024;

/// Serves a connection until it ends. Errors of the socket are the client's business.
pub(crate) async fn serve(shared: Arc<Shared>, stream: TcpStream, number: u64) {
    let _open = Held::new(&shared.counters.open);
    let mut connection = Connection {
        shared: &shared,
        stream,
        number,
        buffer: vec![0; BUFFER],
        filled: 0,
    };
    let _ = connection.run().await;
}

struct Connection<'a> {
    shared: &'a Shared,
    stream: TcpStream,
    number: u64,
    buffer: Vec<u8>,
    filled: usize,
}

/// A request that has been read whole.
struct Request {
    head: Head,
    len: usize,
    body: Bytes,
}

impl Connection<'_> {
    async fn run(&mut self) -> io::Result<()> {
        loop {
            let then = match self.read_request().await? {
                None => return Ok(()),
                Some(Ok(request)) => {
                    let then = self.respond(&request).await?;
                    self.buffer.copy_within(request.len..self.filled, 0);
                    self.filled -= request.len;
                    if request.head.keep_alive {
                        then
                    } else {
                        later(then, Then::Close)
                    }
                }
                Some(Err(Refused(code))) => {
                    let refusal = answer::refusal(code);
                    self.stream.write_all(&refusal.bytes).await?;
                    refusal.then
                }
            };
            match then {
                Then::KeepAlive => {}
                Then::Close => return self.stream.shutdown().await,
                Then::Reset => return SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)),
            }
        }
    }

    /// Reads until a request is complete; `None` when the client has closed.
    async fn read_request(&mut self) -> io::Result<Option<Result<Request, Refused>>> {
        let mut head: Option<Head> = None;
        loop {
            if head.is_none() && self.filled > 0 {
                head = match request::parse_head(&self.buffer[..self.filled]) {
                    Ok(head) => head,
                    Err(refused) => return Ok(Some(Err(refused))),
                };
                if head.as_ref().is_some_and(|head| head.expects_continue) {
                    self.stream
                        .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
                        .await?;
                }
            }
            if let Some(known) = &head {
                let keep = self.shared.keep_bodies || self.path(known).starts_with("/echo");
                match request::parse_body(&self.buffer[known.len..self.filled], known.body, keep) {
                    Ok(None) => self.reserve(known.len, known.body),
                    Ok(Some((body_len, body))) => {
                        let len = known.len + body_len;
                        return Ok(head.map(|head| Ok(Request { head, len, body })));
                    }
                    Err(refused) => return Ok(Some(Err(refused))),
                }
            }
            if self.filled == self.buffer.len() {
                self.buffer.resize(self.filled * 2, 0);
            }
            match self.stream.read(&mut self.buffer[self.filled..]).await? {
                0 => return Ok(None),
                read => self.filled += read,
            }
        }
    }

    /// Makes room for a body whose length is known, within reason, so that it is read in few pieces.
    fn reserve(&mut self, head: usize, body: BodyLength) {
        if let BodyLength::Known(len) = body {
            let wanted = head.saturating_add(len).min(1 << 20);
            if wanted > self.buffer.len() {
                self.buffer.resize(wanted, 0);
            }
        }
    }

    fn path(&self, head: &Head) -> &str {
        std::str::from_utf8(&self.buffer[head.path.clone()]).unwrap_or("")
    }

    async fn respond(&mut self, request: &Request) -> io::Result<Then> {
        let shared = self.shared;
        let head = &request.head;
        let (number, _in_flight) = shared.counters.request();
        let act = shared.script.decide(number, self.path(head));
        let service = shared.service_time(self.path(head), head.seq.unwrap_or(number));
        let served = shared.driver.serve(service).await;
        if shared.recorded.is_some() {
            shared.record(request::record(
                &self.buffer[..head.len],
                self.number,
                request.body.clone(),
            ));
        }
        let mut entry = Entry {
            seq: head.seq,
            connection: self.number,
            arrival_ns: 0,
            start_ns: 0,
            departure_ns: None,
            status: Some(200),
        };
        let act = match served {
            Ok(span) => {
                (entry.arrival_ns, entry.start_ns) = (span.arrival_ns, span.start_ns);
                act
            }
            Err(full) => {
                (entry.arrival_ns, entry.start_ns) = (full.arrival_ns, full.arrival_ns);
                Some(Act::Status(503))
            }
        };
        let Some(act) = act else {
            entry.departure_ns = Some(shared.clock.now_ns());
            shared.log.push(entry);
            let bytes = if head.is_head {
                without_body(answer::OK)
            } else {
                answer::OK
            };
            self.stream.write_all(bytes).await?;
            return Ok(Then::KeepAlive);
        };
        let content_type = head
            .content_type
            .clone()
            .map_or(&b"application/octet-stream"[..], |at| &self.buffer[at]);
        let answer = answer::compose(&act, &request.body, content_type);
        self.act(&act, answer, entry, head.is_head).await
    }

    async fn act(
        &mut self,
        act: &Act,
        answer: Answer,
        mut entry: Entry,
        is_head: bool,
    ) -> io::Result<Then> {
        let shared = self.shared;
        entry.status = answer.status;
        match act {
            Act::Delay(time) => shared.driver.delay(*time).await,
            Act::Never => {
                shared.log.push(entry);
                return self.hold().await;
            }
            _ => {}
        }
        if !answer.bytes.is_empty() {
            entry.departure_ns = Some(shared.clock.now_ns());
        }
        shared.log.push(entry);
        let bytes = if is_head {
            without_body(&answer.bytes)
        } else {
            &answer.bytes
        };
        if let Act::Slow(time) = act {
            let gap = *time / u32::try_from(bytes.len().max(1)).unwrap_or(u32::MAX);
            for byte in bytes.chunks(1) {
                shared.driver.delay(gap).await;
                self.stream.write_all(byte).await?;
            }
        } else {
            self.stream.write_all(bytes).await?;
        }
        Ok(answer.then)
    }

    /// Reads and forgets until the client gives up.
    async fn hold(&mut self) -> io::Result<Then> {
        while self.stream.read(&mut self.buffer).await? > 0 {}
        Ok(Then::Close)
    }
}

/// The stronger of two ends.
fn later(then: Then, other: Then) -> Then {
    if then == Then::KeepAlive { other } else { then }
}

fn without_body(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n");
    end.map_or(answer, |end| &answer[..end + 4])
}
