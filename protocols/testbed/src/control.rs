//! A bare generator, to compare with: what one thread, an epoll and a timerfd make of a schedule.
//!
//! It measures nothing and spins nowhere, so that how evenly its requests reach a server is what
//! this machine allows at the time. Only on Linux.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::time::{TimerfdClockId, TimerfdFlags, Timespec, timerfd_create};

use crate::Clock;
use crate::clock::nanos;
use crate::timer::arm;

/// How far ahead the start of a run lies, so that its first request is not late by construction.
const LEAD: Duration = Duration::from_millis(5);
/// A server that says nothing for so long has failed.
const PATIENCE: Timespec = Timespec {
    tv_sec: 5,
    tv_nsec: 0,
};
/// What stands for the timer among the events, where connections are known by their places.
const TIMER: u64 = u64::MAX;

/// `GET /` over kept-alive connections, each request at its instant, whatever the server does.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use openloop_testbed::{HttpServer, control::Control};
///
/// let server = HttpServer::builder().start()?;
/// let every_millisecond = (0..100).map(Duration::from_millis);
/// let run = Control::connect(server.addr(), 4)?.run(every_millisecond)?;
/// assert_eq!(run.sent, 100);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Control {
    epoll: OwnedFd,
    timer: OwnedFd,
    connections: Vec<Connection>,
    /// The one that has been free for longest first.
    free: VecDeque<usize>,
    request: Vec<u8>,
}

/// What a [`Control`] did.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Sent {
    /// The instant that the offsets of the run count from.
    pub began: Instant,
    /// Requests sent, each of them answered.
    pub sent: u64,
}

impl Control {
    /// Opens the connections, with `TCP_NODELAY`.
    ///
    /// # Errors
    ///
    /// Those of the sockets; no connections at all.
    pub fn connect(server: SocketAddr, connections: usize) -> io::Result<Self> {
        if connections == 0 {
            let why = "0 connections send nothing: give at least 1";
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
        let connections = (0..connections as u64)
            .map(|place| {
                let stream = TcpStream::connect(server)?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                epoll::add(&epoll, &stream, EventData::new_u64(place), EventFlags::IN)?;
                Ok(Connection {
                    stream,
                    answer: Vec::new(),
                })
            })
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            epoll,
            timer,
            free: (0..connections.len()).collect(),
            connections,
            request: format!("GET / HTTP/1.1\r\nhost: {server}\r\n\r\n").into_bytes(),
        })
    }

    /// Sends a request at each of `offsets` from the start, or as soon after it as a connection is
    /// free; ends when all have been answered.
    ///
    /// # Errors
    ///
    /// Those of the sockets; an answer that is not a 200; 5 s without one.
    pub fn run(&mut self, offsets: impl IntoIterator<Item = Duration>) -> io::Result<Sent> {
        let clock = Clock::new();
        let began = Instant::now() + LEAD;
        let begin_ns = clock.monotonic_ns(began);
        let instants = offsets.into_iter().map(|offset| begin_ns + nanos(offset));
        let mut instants = instants.peekable();
        let (mut overdue, mut sent, mut answered, mut armed_ns) = (0_u64, 0, 0, 0);
        let mut events = Vec::with_capacity(self.connections.len() + 1);
        loop {
            let now_ns = clock.now_ns();
            while instants.next_if(|at_ns| *at_ns <= now_ns).is_some() {
                overdue += 1;
            }
            while overdue > 0
                && let Some(place) = self.free.pop_front()
            {
                // A socket with nothing under way takes so small a request whole.
                self.connections[place].stream.write_all(&self.request)?;
                overdue -= 1;
                sent += 1;
            }
            match instants.peek() {
                // Setting it again also clears what has fired.
                Some(next_ns) if *next_ns != armed_ns => {
                    armed_ns = *next_ns;
                    arm(&self.timer, armed_ns)?;
                }
                Some(_) => {}
                None if overdue == 0 && answered == sent => return Ok(Sent { began, sent }),
                None => arm(&self.timer, u64::MAX)?,
            }
            let buffer = rustix::buffer::spare_capacity(&mut events);
            if epoll::wait(&self.epoll, buffer, Some(&PATIENCE))? == 0 && answered < sent {
                return Err(ErrorKind::TimedOut.into());
            }
            for event in events.drain(..) {
                let place = event.data.u64();
                if place == TIMER {
                    continue;
                }
                let place = place as usize;
                if self.connections[place].is_answered()? {
                    self.free.push_back(place);
                    answered += 1;
                }
            }
        }
    }
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    /// What has come of the answer.
    answer: Vec<u8>,
}

impl Connection {
    /// Takes what has come; whether that makes the answer whole.
    fn is_answered(&mut self) -> io::Result<bool> {
        let mut piece = [0; 1024];
        match self.stream.read(&mut piece) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => self.answer.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        let whole = is_whole(&self.answer)?;
        if whole {
            self.answer.clear();
        }
        Ok(whole)
    }
}

/// Whether these are a 200 with its whole body, the length of which is stated.
fn is_whole(answer: &[u8]) -> io::Result<bool> {
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut head = httparse::Response::new(&mut headers);
    let Ok(parsed) = head.parse(answer) else {
        return Err(ErrorKind::InvalidData.into());
    };
    let httparse::Status::Complete(head_length) = parsed else {
        return Ok(false);
    };
    if head.code != Some(200) {
        return Err(io::Error::other(format!(
            "the server answered {:?}",
            head.code
        )));
    }
    let stated = head
        .headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = stated
        .and_then(|header| {
            std::str::from_utf8(header.value)
                .ok()?
                .parse::<usize>()
                .ok()
        })
        .ok_or_else(|| io::Error::other("the server stated no content-length"))?;
    Ok(answer.len() >= head_length + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Act, HttpServer, On};

    #[test]
    fn what_finds_no_connection_free_is_sent_later_and_not_left_out() {
        let server = HttpServer::builder().start().unwrap();
        let at_once = std::iter::repeat_n(Duration::ZERO, 100);
        let run = Control::connect(server.addr(), 2).unwrap().run(at_once);
        assert_eq!(run.unwrap().sent, 100);
        assert_eq!((server.served(), server.accepted()), (100, 2));
    }

    #[test]
    fn an_answer_that_is_not_a_200_ends_the_run() {
        let server = HttpServer::builder()
            .on(On::Always, Act::Status(503))
            .start()
            .unwrap();
        let mut control = Control::connect(server.addr(), 1).unwrap();
        let error = control.run([Duration::ZERO]).unwrap_err();
        assert_eq!(error.to_string(), "the server answered Some(503)");
    }

    #[test]
    fn an_answer_is_whole_with_its_last_byte() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        for length in 0..answer.len() {
            assert!(!is_whole(&answer[..length]).unwrap(), "{length}");
        }
        assert!(is_whole(answer).unwrap());
        assert!(is_whole(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(is_whole(b"nonsense\r\n\r\n").is_err());
    }
}
