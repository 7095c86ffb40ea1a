//! What people watch during a run.

mod bar;
mod lines;
mod view;

use bar::Bar;
use lines::Lines;
use openloop_experiment::drive::Monitor;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use view::{Stage, View};

/// How often a bar is drawn anew.
const FRAME: Duration = Duration::from_millis(200);
/// How often it is looked whether the phase has changed.
const TICK: Duration = Duration::from_millis(250);
/// How often a line is written within a phase.
const EVERY: Duration = Duration::from_secs(5);

/// Where progress is shown. The caller decides, by `stderr().is_terminal()` and the user's wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressTarget {
    /// A bar on standard error, drawn anew five times a second.
    Terminal,
    /// A line on standard error every five seconds and at every change of phase.
    Lines,
    /// Nowhere.
    Hidden,
}

/// Shows the progress of a run, in a thread of its own, until it is finished or dropped.
///
/// A glance at the run takes well under a millisecond: the bar was seen to cost two thousandths of a core.
///
/// ```no_run
/// # async fn example(plan: openloop_experiment::Plan) -> Result<(), Box<dyn std::error::Error>> {
/// use openloop_experiment::drive;
/// use openloop_report::{Progress, ProgressTarget};
/// use std::io::{IsTerminal, stderr};
///
/// let drive = drive::shared(&plan, |_ticket| async { /* a request */ });
/// let target = match stderr().is_terminal() {
///     true => ProgressTarget::Terminal,
///     false => ProgressTarget::Lines,
/// };
/// let progress = Progress::start(drive.monitor(), target);
/// let run = drive.await?;
/// progress.finish();
/// # Ok(())
/// # }
/// ```
#[must_use = "dropped, it ends"]
#[derive(Debug)]
pub struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Shows the progress of the run that `monitor` watches. Without a thread to do so, it shows nothing.
    pub fn start(monitor: Monitor, target: ProgressTarget) -> Progress {
        Progress::start_step(monitor, target, "")
    }

    /// The same for one run of several: `step` says which, `step 2 of 5` say, before the phase.
    pub fn start_step(monitor: Monitor, target: ProgressTarget, step: &str) -> Progress {
        let step = step.to_owned();
        match target {
            ProgressTarget::Terminal => Progress::spawn(move |ended| {
                let bar = Bar::new(monitor.plan(), step);
                watch(&monitor, FRAME, ended, |stage, view| {
                    bar.show(stage, &view())
                });
                bar.clear();
            }),
            ProgressTarget::Lines => Progress::lines(monitor, EVERY, io::stderr(), step),
            ProgressTarget::Hidden => Progress { running: None },
        }
    }

    /// Writes a line to `to` every so often, and at every change of phase. If the writer fails, the run goes on
    /// without.
    pub fn lines_to(
        monitor: Monitor,
        every: Duration,
        to: impl io::Write + Send + 'static,
    ) -> Progress {
        Progress::lines(monitor, every, to, String::new())
    }

    fn lines(
        monitor: Monitor,
        every: Duration,
        to: impl io::Write + Send + 'static,
        step: String,
    ) -> Progress {
        Progress::spawn(move |ended| {
            let mut lines = Lines::new(every, to, step);
            watch(&monitor, TICK.min(every), ended, |stage, view| {
                lines.show(stage, Instant::now(), view);
            });
            lines.last(View::of(&monitor));
        })
    }

    /// Ends it, and returns when nothing more will be written.
    pub fn finish(mut self) {
        self.end();
    }

    fn spawn(show: impl FnOnce(Receiver<()>) + Send + 'static) -> Progress {
        let (end, ended) = channel();
        let thread = std::thread::Builder::new().name("progress".to_owned());
        let running = thread.spawn(move || show(ended)).ok();
        Progress {
            running: running.map(|thread| (end, thread)),
        }
    }

    fn end(&mut self) {
        if let Some((end, thread)) = self.running.take() {
            drop(end);
            // A panic in there has cost nobody anything but the progress.
            let _ = thread.join();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

/// Calls `show` every `tick` until `ended` closes, with the stage and a way to look closer, which costs more.
fn watch(
    monitor: &Monitor,
    tick: Duration,
    ended: Receiver<()>,
    mut show: impl FnMut(Stage, &dyn Fn() -> Option<View>),
) {
    let mut clock = None;
    loop {
        if clock.is_none() {
            clock = monitor.live().map(|live| (Instant::now(), live.now));
        }
        let now = clock.map(|(read, at)| at.saturating_add(read.elapsed()));
        show(Stage::at(monitor.plan(), now), &|| View::of(monitor));
        match ended.recv_timeout(tick) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
