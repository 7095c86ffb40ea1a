//! Whether time passes.

use std::time::Duration;

use tokio::time::Instant;

/// Whether the tokio clock of this runtime is paused (`start_paused = true`, or `tokio::time::pause`).
///
/// tokio has no query for it: two of its readings are equal while 2 µs pass on the clock of the machine.
/// Takes those 2 µs.
#[must_use]
pub fn clock_is_paused() -> bool {
    let (tokio, machine) = (Instant::now(), std::time::Instant::now());
    while machine.elapsed() < Duration::from_micros(2) {
        std::hint::spin_loop();
    }
    Instant::now() == tokio
}
