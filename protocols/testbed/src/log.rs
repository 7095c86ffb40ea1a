//! What a server knows of every request it has read.

use std::io::{self, Write};
use std::time::Instant;

use parking_lot::Mutex;

use crate::Clock;

/// Entries a chunk: growing never copies what has been logged, which would stall the server.
const CHUNK: usize = 1 << 16;

/// One request, as the server saw it.
///
/// `departure − arrival` is what the server took; a client in the same process that stamps with
/// [`Instant`] reads the same clock, so the two can be subtracted from each other.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Served {
    /// The value of the request's [sequence header](crate::SEQUENCE_HEADER).
    pub seq: Option<u64>,
    /// The connection it came on, counted from 0 in order of acceptance.
    pub connection: u64,
    /// When its last byte had been read. A request pipelined behind another one arrives when the
    /// one before it has been answered.
    pub arrival: Instant,
    /// When a worker took it up, as computed: the arrival itself where none was busy.
    pub start: Instant,
    /// Just before the answer was written; `None` if none was ever begun.
    pub departure: Option<Instant>,
    /// The status sent; `None` for an answer without one.
    pub status: Option<u16>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) seq: Option<u64>,
    pub(crate) connection: u64,
    pub(crate) arrival_ns: u64,
    pub(crate) start_ns: u64,
    pub(crate) departure_ns: Option<u64>,
    pub(crate) status: Option<u16>,
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    chunks: Mutex<Vec<Vec<Entry>>>,
}

impl Log {
    pub(crate) fn push(&self, entry: Entry) {
        let mut chunks = self.chunks.lock();
        match chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(entry),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(entry);
                chunks.push(chunk);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.chunks.lock().iter().map(Vec::len).sum()
    }

    pub(crate) fn read(&self, clock: &Clock) -> Vec<Served> {
        let chunks = self.chunks.lock();
        let served = |entry: &Entry| Served {
            seq: entry.seq,
            connection: entry.connection,
            arrival: clock.instant(entry.arrival_ns),
            start: clock.instant(entry.start_ns),
            departure: entry.departure_ns.map(|ns| clock.instant(ns)),
            status: entry.status,
        };
        chunks.iter().flatten().map(served).collect()
    }

    /// Columns `seq,conn,arrival_ns,start_ns,departure_ns,status`; what is not there is left empty.
    pub(crate) fn write_csv(&self, out: impl Write) -> io::Result<()> {
        let mut out = io::BufWriter::new(out);
        writeln!(out, "seq,conn,arrival_ns,start_ns,departure_ns,status")?;
        let text = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        for entry in self.chunks.lock().iter().flatten() {
            writeln!(
                out,
                "{},{},{},{},{},{}",
                text(entry.seq),
                entry.connection,
                entry.arrival_ns,
                entry.start_ns,
                text(entry.departure_ns),
                text(entry.status.map(u64::from)),
            )?;
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(seq: Option<u64>) -> Entry {
        Entry {
            seq,
            connection: 2,
            arrival_ns: 10,
            start_ns: 11,
            departure_ns: Some(12),
            status: Some(200),
        }
    }

    #[test]
    fn a_csv_leaves_empty_what_is_not_there() {
        let log = Log::default();
        log.push(entry(Some(7)));
        log.push(Entry {
            departure_ns: None,
            status: None,
            ..entry(None)
        });
        let mut out = Vec::new();
        log.write_csv(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "seq,conn,arrival_ns,start_ns,departure_ns,status\n7,2,10,11,12,200\n,2,10,11,,\n"
        );
    }

    #[test]
    fn entries_stay_in_order_over_chunks() {
        let log = Log::default();
        let count = CHUNK as u64 * 2 + 1;
        (0..count).for_each(|seq| log.push(entry(Some(seq))));
        assert_eq!(log.len() as u64, count);
        let read = log.read(&Clock::new());
        assert!(
            read.iter()
                .map(|served| served.seq)
                .eq((0..count).map(Some))
        );
    }
}
