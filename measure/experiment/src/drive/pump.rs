//! Releases the arrivals of one schedule, and accounts for those that it could not.

use super::serve::Shared;
use super::stop::Stop;
use crate::Work;
use crate::generator::{Cpu, PumpStats};
use crate::plan::GRACE;
use futures_core::Stream;
use openloop_sched::{Due, Offset, Pacer, PacerError, Precision, Schedule};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

/// How long after a release the generator stays awake for an answer. On an idle core it would come 50 µs late, and
/// that is more than the 2 % that a run's validity allows where the response is shorter than this.
const AWAKE: Duration = Duration::from_micros(2_500);

/// Releases every arrival of `schedule` to `launch`, until the plan is done, `stop` is raised, or the generator
/// is a second past the end of the plan and gives up. What was due and not released is written down as unsent.
pub(crate) async fn pump<W: Work>(
    schedule: Schedule,
    precision: Precision,
    shared: &Shared<W>,
    stop: &Stop,
    cpu: fn() -> Cpu,
    mut launch: impl FnMut(Due),
) -> Result<PumpStats, PacerError> {
    let (recorder, live) = (&shared.recorder, &shared.live);
    let give_up = schedule.end().saturating_add(GRACE);
    let mut pacer = Pacer::new(schedule, recorder.start(), precision)?;
    let mut stats = PumpStats::new(&pacer);
    let cpu_before = cpu();
    let mut stopped = pin!(stop.stopped());
    let mut awake_until = Offset::ZERO;
    let next = async {
        poll_fn(|cx| {
            while !stop.is_stopped() {
                pacer.stay_awake(if live.any() {
                    awake_until
                } else {
                    Offset::ZERO
                });
                match Pin::new(&mut pacer).poll_next(cx) {
                    Poll::Pending => return stopped.as_mut().poll(cx).map(|()| None),
                    Poll::Ready(Some(due)) if due.fired <= give_up => {
                        awake_until = due.fired.saturating_add(AWAKE);
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
    stats.finish(&pacer, cpu().since(cpu_before), recorder.now());
    let ended = stop.stopped_at(recorder.start()).unwrap_or(recorder.now());
    if let Some(due) = too_late {
        shared.unsent(due.ticket, due.fired);
    }
    // At the end of the plan nothing remains; after a stop or giving up, what is due by now was not sent.
    for ticket in pacer.into_remaining() {
        if ticket.intended >= ended {
            break;
        }
        shared.unsent(ticket, ended);
    }
    Ok(stats)
}
