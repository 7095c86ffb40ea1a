use crate::fixture::open;
use openloop_experiment::{Lifecycle, drive};
use openloop_report::{Progress, ProgressTarget};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_line_tells_the_whole_run() {
    let plan = open(20.0)
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(3)))
        .build()
        .unwrap();
    let drive = drive::shared(&plan, |_: openloop_sched::Ticket| async {});
    let monitor = drive.monitor();
    let run = drive.await.unwrap();
    assert_eq!(run.snapshot().counts().ok, 60);
    // It is only looked at when it has ended, so that nothing depends on the threads' turns.
    let written = Written::default();
    Progress::lines_to(monitor, Duration::from_secs(60), written.clone()).finish();
    let lines = written.lines();
    let last = lines.last().unwrap();
    assert!(
        last.contains("in flight 0") && last.ends_with("errors 0"),
        "{lines:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_has_not_begun_has_nothing_to_show() {
    let plan = open(20.0).build().unwrap();
    let drive = drive::shared(&plan, |_: openloop_sched::Ticket| async {});
    let written = Written::default();
    // The run's own task has had no turn yet: this thread is the only one of the runtime.
    Progress::lines_to(drive.monitor(), Duration::from_secs(60), written.clone()).finish();
    assert!(written.lines().is_empty());
}

#[tokio::test(start_paused = true)]
async fn hidden_or_dropped_progress_ends_at_once() {
    let plan = open(20.0).build().unwrap();
    let drive = drive::shared(&plan, |_: openloop_sched::Ticket| async {});
    Progress::start(drive.monitor(), ProgressTarget::Hidden).finish();
    let written = Written::default();
    drop(Progress::lines_to(
        drive.monitor(),
        Duration::from_secs(3600),
        written.clone(),
    ));
    let before = written.lines();
    let run = drive.await.unwrap();
    assert!(run.snapshot().counts().ok > 0);
    assert_eq!(written.lines(), before);
}
