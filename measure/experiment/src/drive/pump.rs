//! Releases the arrivals of one schedule, and accounts for those that it could not.

use super::serve::Shared;
use super::sessions::Successors;
use super::stop::Stop;
use super::vigil::Vigil;
use crate::Work;
use crate::generator::{Cpu, PumpStats};
use crate::plan::GRACE;
use futures_core::Stream;
use openloop_sched::{Due, Pacer, PacerError, Precision, Schedule};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

/// What the release of arrivals needs beside them.
pub(crate) struct Pump<'a, W> {
    pub(crate) shared: &'a Shared<W>,
    pub(crate) stop: &'a Stop,
    pub(crate) cpu: fn() -> Cpu,
    /// Arrivals that follow from others.
    pub(crate) successors: Option<&'a mut Successors>,
}

impl<W: Work> Pump<'_, W> {
    /// Releases every arrival of `schedule`, and those that follow from them, to `launch`, until the plan is done,
    /// the run is stopped, or the generator is a second past the end of the plan and gives up. What was due and not
    /// released is written down as unsent.
    pub(crate) async fn run(
        mut self,
        schedule: Schedule,
        precision: Precision,
        mut launch: impl FnMut(Due),
    ) -> Result<PumpStats, PacerError> {
        let (shared, stop) = (self.shared, self.stop);
        let (recorder, live) = (&shared.recorder, &shared.live);
        let give_up = schedule.end().saturating_add(GRACE);
        let mut pacer = Pacer::new(schedule, recorder.start(), precision)?;
        let mut stats = PumpStats::new(&pacer);
        let cpu_before = (self.cpu)();
        let mut stopped = pin!(stop.stopped());
        let mut vigil = Vigil::default();
        let next = async {
            poll_fn(|cx| {
                while !stop.is_stopped() {
                    pacer.stay_awake(vigil.until(live.count()));
                    if let Some(successors) = self.successors.as_deref_mut() {
                        successors.hand_over(cx, &mut pacer);
                    }
                    match Pin::new(&mut pacer).poll_next(cx) {
                        Poll::Pending => return stopped.as_mut().poll(cx).map(|()| None),
                        Poll::Ready(Some(due)) if due.fired <= give_up => {
                            vigil.released(due.fired, live.count());
                            launch(due);
                        }
                        Poll::Ready(none_or_too_late) => return Poll::Ready(none_or_too_late),
                    }
                }
                Poll::Ready(None)
            })
            .await
        };
        let too_late = next.await;
        stats.finish(&pacer, (self.cpu)().since(cpu_before), recorder.now());
        let ended = stop.stopped_at(recorder.start()).unwrap_or(recorder.now());
        // At the end of the plan nothing remains; after a stop or giving up, what is due by now was not sent.
        let remaining = pacer
            .into_remaining()
            .take_while(|ticket| ticket.intended < ended);
        let too_late = too_late.map(|due| due.ticket);
        for ticket in too_late.into_iter().chain(remaining) {
            shared.unsent(ticket, ended);
            if let Some(successors) = self.successors.as_deref_mut() {
                successors.unsent(ticket);
            }
        }
        Ok(stats)
    }
}
