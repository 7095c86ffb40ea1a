//! The timeline as CSV.

use crate::Report;
use std::io;

const HEAD: &str = "from_ns,to_ns,asked_rate,arrivals,fired,dispatched,ok,failed,timed_out,rejected,shed,abandoned,unsent,in_flight,p50_ns,p99_ns,max_ns,at_least,max_lag_ns";

impl Report {
    /// Writes the timeline as CSV, a line for each interval under a line of names: those of the fields of
    /// [`Interval`](crate::schema::Interval), with the outcomes of what ended in it. What does not exist is empty;
    /// `at_least` has the names of the fields that are lower bounds, parted by blanks.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_csv(&self, mut to: impl io::Write) -> io::Result<()> {
        writeln!(to, "{HEAD}")?;
        for interval in &self.timeline {
            let ended = &interval.ended;
            let or_empty = |ns: Option<u64>| ns.map_or(String::new(), |ns| ns.to_string());
            let bounds: Vec<&str> = interval
                .at_least
                .iter()
                .filter(|name| is_plain(name))
                .collect();
            let cells = [
                interval.from_ns.to_string(),
                interval.to_ns.to_string(),
                interval
                    .asked_rate
                    .map_or(String::new(), |rate| rate.to_string()),
                interval.arrivals.to_string(),
                interval.fired.to_string(),
                interval.dispatched.to_string(),
                ended.ok.to_string(),
                ended.failed.to_string(),
                ended.timed_out.to_string(),
                ended.rejected.to_string(),
                ended.shed.to_string(),
                ended.abandoned.to_string(),
                ended.unsent.to_string(),
                interval.in_flight.to_string(),
                or_empty(interval.p50_ns),
                or_empty(interval.p99_ns),
                or_empty(interval.max_ns),
                bounds.join(" "),
                or_empty(interval.max_lag_ns),
            ];
            writeln!(to, "{}", cells.join(","))?;
        }
        to.flush()
    }
}

/// A report may come from elsewhere, and a name in it begin a cell or a line.
fn is_plain(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
