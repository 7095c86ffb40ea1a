//! One call, from its first byte to its end, whichever way it ends.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tonic::metadata::MetadataMap;
use tonic::{Code, Request, Status};

use super::State;
use crate::SEQUENCE_HEADER;
use crate::log::Entry;

/// The number of the connection that a call came on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection(pub(crate) u64);

/// What a call was told beside its messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Told {
    /// Its metadata, but for what the protocol itself needs.
    pub metadata: MetadataMap,
    /// The time that the client leaves it, if it says so.
    pub timeout: Option<Duration>,
}

/// A call in the server's books: dropped without an end, it was given up by the client.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) state: Arc<State>,
    entry: Entry,
    number: u64,
    timeout: Option<Duration>,
    is_ended: bool,
}

impl Call {
    pub(crate) fn begin<T>(state: &Arc<State>, request: &Request<T>) -> Self {
        let metadata = request.metadata();
        let timeout = metadata.get("grpc-timeout").and_then(|value| {
            let text = value.to_str().ok()?;
            let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
            let unit = match unit {
                "n" => Duration::from_nanos(1),
                "u" => Duration::from_micros(1),
                "m" => Duration::from_millis(1),
                "S" => Duration::from_secs(1),
                "M" => Duration::from_secs(60),
                "H" => Duration::from_secs(3600),
                _ => return None,
            };
            unit.checked_mul(digits.parse().ok()?)
        });
        *state.told.lock() = Some(Told {
            metadata: metadata.clone(),
            timeout,
        });
        let counters = &state.counters;
        let number = counters.requests.fetch_add(1, Ordering::Relaxed);
        let now = counters.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        counters.in_flight_peak.fetch_max(now, Ordering::Relaxed);
        let seq = metadata.get(SEQUENCE_HEADER);
        let connection = request.extensions().get::<Connection>();
        let arrival_ns = state.clock.now_ns();
        Call {
            state: Arc::clone(state),
            entry: Entry {
                seq: seq.and_then(|value| value.to_str().ok()?.parse().ok()),
                connection: connection.map_or(0, |number| number.0),
                arrival_ns,
                start_ns: arrival_ns,
                departure_ns: None,
                status: None,
            },
            number,
            timeout,
            is_ended: false,
        }
    }

    /// The server's own work, and then so long a wait.
    pub(crate) async fn work(&mut self, delay: Duration) -> Result<(), Status> {
        let timeout = self.timeout;
        let work = async {
            let seq = self.entry.seq.unwrap_or(self.number);
            let served = self.state.driver.serve(self.state.service.time(seq)).await;
            let span =
                served.map_err(|_| Status::resource_exhausted("the waiting room is full"))?;
            self.entry.start_ns = span.start_ns;
            if !delay.is_zero() {
                self.state.driver.delay(delay).await;
            }
            Ok(())
        };
        within(timeout, work).await
    }

    /// Waits between messages.
    pub(crate) async fn pause(&self, time: Duration) {
        if !time.is_zero() {
            self.state.driver.delay(time).await;
        }
    }

    pub(crate) fn end(&mut self, code: Code) {
        self.is_ended = true;
        self.entry.departure_ns = Some(self.state.clock.now_ns());
        self.entry.status = u16::try_from(code as i32).ok();
    }

    /// Ends with the status that a request asks for.
    pub(crate) fn end_as_asked(&mut self, code: u32) -> Result<(), Status> {
        let code = Code::from_i32(i32::try_from(code).unwrap_or(i32::MAX));
        self.end(code);
        match code {
            Code::Ok => Ok(()),
            code => Err(Status::new(code, "as asked")),
        }
    }
}

/// A server ends a call itself whose time is up.
async fn within(
    timeout: Option<Duration>,
    work: impl Future<Output = Result<(), Status>>,
) -> Result<(), Status> {
    match timeout {
        None => work.await,
        Some(timeout) => tokio::time::timeout(timeout, work)
            .await
            .unwrap_or_else(|_| Err(Status::deadline_exceeded("the time that was left is over"))),
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let state = &self.state;
        state.log.push(self.entry);
        state.counters.in_flight.fetch_sub(1, Ordering::Relaxed);
        if !self.is_ended {
            state.cancelled.fetch_add(1, Ordering::Release);
        }
    }
}
