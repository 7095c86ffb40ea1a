//! Progress in plain lines.

use super::view::{Stage, View};
use std::io;
use std::time::{Duration, Instant};

/// Writes a line every so often and at every change of phase.
#[derive(Debug)]
pub(super) struct Lines<W> {
    every: Duration,
    to: W,
    /// Which of several runs it is.
    step: String,
    stage: Option<Stage>,
    written: Option<Instant>,
    latest: String,
}

impl<W: io::Write> Lines<W> {
    pub(super) fn new(every: Duration, to: W, step: String) -> Self {
        Lines {
            every,
            to,
            step,
            stage: None,
            written: None,
            latest: String::new(),
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

    /// The line at the end of a run, if it says anything new.
    pub(super) fn last(&mut self, view: Option<View>) {
        if let Some(view) = view {
            self.write(&view);
        }
    }

    fn write(&mut self, view: &View) {
        let stage = view.stage.within(&self.step);
        let (time, figures) = (view.time(), view.figures());
        let line = format!("{stage:<9} {time:<24} {figures}");
        if line == self.latest {
            return;
        }
        // Nobody can be told that nothing can be told.
        let _ = writeln!(self.to, "{line}");
        self.latest = line;
        let _ = self.to.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEADY: Stage = Stage::Phase("steady");

    #[test]
    fn a_line_is_written_every_so_often_and_at_every_change_of_phase() {
        let mut lines = Lines::new(Duration::from_secs(5), Vec::new(), String::new());
        let start = Instant::now();
        for tenth in 0..=430 {
            let secs = tenth / 10;
            let stage = match secs {
                0 => Stage::Starting,
                1..7 => Stage::Phase("warm_up"),
                7..40 => STEADY,
                _ => Stage::Drain,
            };
            let now = start + Duration::from_millis(tenth * 100);
            lines.show(stage, now, &|| Some(View::example(stage, secs)));
        }
        let text = String::from_utf8(lines.to).unwrap();
        let starts: Vec<&str> = text.lines().map(|line| line[..15].trim_end()).collect();
        assert_eq!(
            starts,
            [
                "warm_up   1 s o",
                "warm_up   6 s o",
                "steady    7 s o",
                "steady    12 s",
                "steady    17 s",
                "steady    22 s",
                "steady    27 s",
                "steady    32 s",
                "steady    37 s",
                "drain     40 s,",
            ]
        );
    }

    #[test]
    fn the_run_is_looked_at_only_when_a_line_is_due() {
        let mut lines = Lines::new(Duration::from_secs(5), Vec::new(), String::new());
        let start = Instant::now();
        lines.show(STEADY, start, &|| Some(View::example(STEADY, 12)));
        lines.show(STEADY, start + Duration::from_secs(4), &|| {
            panic!("not due")
        });
        assert_eq!(lines.to.iter().filter(|byte| **byte == b'\n').count(), 1);
    }

    #[test]
    fn the_last_line_is_not_written_twice() {
        let mut lines = Lines::new(Duration::from_secs(5), Vec::new(), String::new());
        lines.show(STEADY, Instant::now(), &|| Some(View::example(STEADY, 12)));
        lines.last(Some(View::example(STEADY, 12)));
        assert_eq!(lines.to.iter().filter(|byte| **byte == b'\n').count(), 1);
        lines.last(Some(View::example(STEADY, 13)));
        assert_eq!(lines.to.iter().filter(|byte| **byte == b'\n').count(), 2);
    }

    #[test]
    fn one_run_of_several_says_which() {
        let step = "step 2 of 5".to_owned();
        let mut lines = Lines::new(Duration::from_secs(5), Vec::new(), step);
        lines.show(STEADY, Instant::now(), &|| Some(View::example(STEADY, 12)));
        let text = String::from_utf8(lines.to).unwrap();
        assert!(text.starts_with("step 2 of 5, steady "), "{text}");
    }

    #[test]
    fn a_writer_that_fails_costs_the_run_nothing() {
        let mut room = [0_u8; 10];
        let mut lines = Lines::new(Duration::ZERO, &mut room[..], String::new());
        lines.last(Some(View::example(STEADY, 12)));
    }
}
