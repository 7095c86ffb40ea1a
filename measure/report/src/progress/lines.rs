//! Progress in plain lines.

use super::view::{Stage, View};
use std::io;
use std::time::{Duration, Instant};

/// Writes a line every so often and at every change of phase.
#[derive(Debug)]
pub(super) struct Lines<W> {
    every: Duration,
    to: W,
    stage: Option<Stage>,
    written: Option<Instant>,
}

impl<W: io::Write> Lines<W> {
    pub(super) fn new(every: Duration, to: W) -> Self {
        Lines {
            every,
            to,
            stage: None,
            written: None,
        }
    }

    /// Writes a line if one is due.
    pub(super) fn show(&mut self, stage: Stage, now: Instant, view: &dyn Fn() -> Option<View>) {
        let is_due = self
            .written
            .is_none_or(|written| now.saturating_duration_since(written) >= self.every);
        if stage != Stage::Starting
            && (is_due || self.stage != Some(stage))
            && let Some(view) = view()
        {
            (self.stage, self.written) = (Some(stage), Some(now));
            self.write(&view);
        }
    }

    /// The line at the end of a run.
    pub(super) fn last(&mut self, view: Option<View>) {
        if let Some(view) = view {
            self.write(&view);
        }
    }

    fn write(&mut self, view: &View) {
        // Nobody can be told that nothing can be told.
        let _ = writeln!(
            self.to,
            "{:<9} {:<16} {}",
            view.stage.name(),
            view.time(),
            view.figures()
        );
        let _ = self.to.flush();
    }
}
