//! Ctrl-C and SIGTERM, over all runs of an experiment.

use openloop_experiment::drive::Stop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinHandle;

/// Stops the run in progress on the first signal, of Ctrl-C or of a scheduler that ends the job, and aborts its drain on
/// the second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    pressed: u32,
    running: Option<Stop>,
    /// For what computes instead of sending.
    pressed_flag: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Interrupt {
    /// Watches over a run from now on. Signals are first listened to when there is one; where they cannot be, they end
    /// the process as ever.
    pub(crate) fn watch(&self, run: Stop) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.pressed > 0 {
            run.stop();
        }
        state.running = Some(run);
        self.listen(&mut state);
    }

    /// Is set by the first signal, from now on.
    pub(crate) fn watch_flag(&self) -> Arc<AtomicBool> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.running = None;
        self.listen(&mut state);
        state.pressed_flag.clone()
    }

    fn listen(&self, state: &mut State) {
        if state.listening.is_none()
            && let Ok(mut signals) = Signals::new()
        {
            let interrupt = self.clone();
            state.listening = Some(tokio::spawn(async move {
                while signals.next().await.is_some() {
                    interrupt.press();
                }
            }));
        }
    }

    fn press(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.pressed += 1;
        state.pressed_flag.store(true, Ordering::Relaxed);
        match (&state.running, state.pressed) {
            (Some(run), 1) => run.stop(),
            (Some(run), _) => run.abort(),
            (None, _) => {}
        }
    }
}

/// The signals to end. They are listened to from the first to the last: between two of them none is lost.
#[cfg(unix)]
struct Signals([tokio::signal::unix::Signal; 2]);

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let [interrupt, terminate] = [SignalKind::interrupt(), SignalKind::terminate()];
        Ok(Signals([signal(interrupt)?, signal(terminate)?]))
    }

    async fn next(&mut self) -> Option<()> {
        let [interrupt, terminate] = &mut self.0;
        tokio::select! {
            pressed = interrupt.recv() => pressed,
            asked = terminate.recv() => asked,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Signals)
    }

    async fn next(&mut self) -> Option<()> {
        tokio::signal::ctrl_c().await.ok()
    }
}
