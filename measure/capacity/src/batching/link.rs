//! The link over which an engine hands prompts over.

use super::config::Transfer;
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    free_at: Duration,
}

impl Link {
    /// When these blocks will have arrived: one prompt goes after the other.
    pub(super) fn send(&mut self, now: Duration, transfer: Transfer, blocks: u32) -> Duration {
        let seconds = transfer.latency + transfer.per_block * f64::from(blocks);
        let length = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.free_at = self.free_at.max(now).saturating_add(length);
        self.free_at
    }
}
