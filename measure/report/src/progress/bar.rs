//! Progress as a bar on a terminal.

use super::view::{Stage, View};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use openloop_experiment::Plan;
use std::time::Duration;

/// A bar of the whole run, with the figures under it.
#[derive(Debug)]
pub(super) struct Bar {
    bar: ProgressBar,
    /// Which of several runs it is.
    step: String,
}

impl Bar {
    pub(super) fn new(plan: &Plan, step: String) -> Self {
        let length = millis(plan.layout().end().as_duration());
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        // A constant that the library accepts; otherwise its own style does.
        if let Ok(style) = ProgressStyle::with_template("{prefix:9.bold} {bar:40.cyan/dim} {msg}") {
            bar.set_style(style.progress_chars("━╸─"));
        }
        Bar { bar, step }
    }

    pub(super) fn show(&self, stage: Stage, view: &Option<View>) {
        self.bar.set_prefix(stage.within(&self.step));
        if let Some(view) = view {
            self.bar.set_position(millis(view.now.as_duration()));
            self.bar
                .set_message(format!("{}\n{}", view.time(), view.figures()));
        }
        self.bar.tick();
    }

    /// Leaves the terminal as it was.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
