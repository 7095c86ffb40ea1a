//! Ctrl-C, over all runs of an experiment.

use openloop_experiment::drive::Stop;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinHandle;

/// Stops the run in progress on the first Ctrl-C, and aborts its drain on the second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    pressed: u32,
    running: Option<Stop>,
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
        if state.listening.is_none() {
            let interrupt = self.clone();
            state.listening = Some(tokio::spawn(async move {
                while tokio::signal::ctrl_c().await.is_ok() {
                    interrupt.press();
                }
            }));
        }
    }

    fn press(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.pressed += 1;
        match (&state.running, state.pressed) {
            (Some(run), 1) => run.stop(),
            (Some(run), _) => run.abort(),
            (None, _) => {}
        }
    }
}
