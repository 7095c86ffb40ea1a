//! What the connections of one server share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::act::Script;
use crate::cache::Looked;
use crate::driver::Driver;
use crate::log::Log;
use crate::request::RecordedRequest;
use crate::{Clock, Service};

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) driver: Driver,
    pub(crate) service: Service,
    pub(crate) cache: Option<Mutex<Looked>>,
    pub(crate) script: Script,
    pub(crate) log: Log,
    pub(crate) counters: Counters,
    /// Whether the body of a request is looked at once it has been read.
    pub(crate) keep_bodies: bool,
    pub(crate) recorded: Option<Mutex<Vec<RecordedRequest>>>,
    pub(crate) accepting: AtomicBool,
    /// The accept loop is to look at `accepting` again, or to end.
    pub(crate) control: Notify,
    pub(crate) stopping: AtomicBool,
}

impl Shared {
    /// How long a request takes in a worker: by what the cache holds now, if there is one.
    pub(crate) fn service_time(&self, path: &str, seq: u64) -> Duration {
        match &self.cache {
            Some(cache) => cache.lock().time(path, seq),
            None => self.service.time(seq),
        }
    }

    pub(crate) fn record(&self, request: Option<RecordedRequest>) {
        if let (Some(recorded), Some(request)) = (&self.recorded, request) {
            recorded.lock().push(request);
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) accepted: AtomicU64,
    pub(crate) open: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) in_flight: AtomicU64,
    pub(crate) in_flight_peak: AtomicU64,
    pub(crate) failed_handshakes: AtomicU64,
}

/// Counts something for as long as it lives.
#[derive(Debug)]
pub(crate) struct Held<'a>(&'a AtomicU64);

impl<'a> Held<'a> {
    pub(crate) fn new(gauge: &'a AtomicU64) -> (Self, u64) {
        let now = gauge.fetch_add(1, Ordering::Relaxed) + 1;
        (Self(gauge), now)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counters {
    /// Counts a request that has been read, until the guard is dropped. Gives its number as well.
    pub(crate) fn request(&self) -> (u64, Held<'_>) {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let (held, now) = Held::new(&self.in_flight);
        self.in_flight_peak.fetch_max(now, Ordering::Relaxed);
        (number, held)
    }
}
