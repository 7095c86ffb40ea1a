//! Releases arrivals at their instants.

mod alarm;
mod clock;
mod fallback;
mod inserted;
mod precision;
mod spin;
#[cfg(target_os = "linux")]
mod timerfd;
mod window;

use std::fmt;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use tokio::runtime::Handle;
use tokio::time::Instant;

use self::alarm::Alarm;
pub use self::clock::clock_is_paused;
pub use self::fallback::{Fallback, PacerError};
use self::inserted::Inserted;
pub use self::precision::{Precision, PrecisionError};
use self::spin::Spin;
use self::window::Window;
use crate::{Due, Offset, Ticket};

/// A stream of arrivals, each released at its instant: never early, never skipped.
///
/// An arrival whose instant has passed is released at once, with its lateness in
/// `fired − intended`; the schedule does not move. So that a pacer which is behind starves nobody, it
/// releases at most a burst (see [`with_burst`](Pacer::with_burst)) before it lets the other tasks and the
/// drivers of the runtime run.
///
/// The pacer owns one timer and may be dropped at any time, also while it is waited for. It must be polled in
/// the runtime that it was made in.
///
/// ```
/// use openloop_sched::{Arrivals, Pacer, Precision, Schedule};
/// use std::{future::poll_fn, pin::Pin};
/// use futures_core::Stream;
/// use tokio::time::Instant;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schedule = Schedule::new("100/1s".parse()?, Arrivals::Constant, 1);
/// let mut pacer = Pacer::new(schedule, Instant::now(), Precision::default())?;
/// let mut released = 0;
/// while let Some(due) = poll_fn(|cx| Pin::new(&mut pacer).poll_next(cx)).await {
///     assert!(due.fired >= due.ticket.intended);
///     released += 1;
/// }
/// assert_eq!(released, 100);
/// # Ok(())
/// # }
/// ```
pub struct Pacer<I> {
    tickets: I,
    /// The next of `tickets`.
    next: Option<Ticket>,
    inserted: Inserted,
    /// Until when it waits for arrivals to be inserted, though none is left.
    open_until: Offset,
    start: Instant,
    alarm: Alarm,
    window: Window,
    precision: Precision,
    fallback: Option<Fallback>,
    burst: u32,
    /// Releases since the last time that others could run.
    released: u32,
    /// What the alarm is set for, in nanoseconds since the start, until the clock has reached it.
    waiting: Option<i64>,
    spin: Spin,
    /// Until when it yields instead of sleeping.
    awake_until: i64,
    last_lag: Duration,
    max_lag: Duration,
}

impl<I: Iterator<Item = Ticket>> Pacer<I> {
    /// The burst of a new pacer.
    pub const BURST: u32 = 32;

    /// Releases `tickets`, whose instants count from `start`, which may lie ahead or in the past.
    ///
    /// Waits as `precision` says or, where that is not possible, like [`Precision::Coarse`]:
    /// [`precision`](Pacer::precision) says how, and [`fallback`](Pacer::fallback) why.
    ///
    /// # Errors
    /// When called outside a tokio runtime, or in one without a timer where [`Precision::Coarse`] needs it.
    pub fn new(mut tickets: I, start: Instant, precision: Precision) -> Result<Self, PacerError> {
        Handle::try_current().map_err(|_| PacerError::NoRuntime)?;
        let (alarm, fallback) = Alarm::new(precision, start)?;
        let precision = if fallback.is_some() {
            Precision::Coarse
        } else {
            precision
        };
        let window = match precision {
            Precision::Spin { window } => window,
            Precision::Coarse | Precision::Timer => Duration::ZERO,
        };
        Ok(Pacer {
            next: tickets.next(),
            tickets,
            inserted: Inserted::default(),
            open_until: Offset::ZERO,
            start,
            alarm,
            window: Window::up_to(window),
            precision,
            fallback,
            burst: Self::BURST,
            released: 0,
            waiting: None,
            spin: Spin::default(),
            awake_until: 0,
            last_lag: Duration::ZERO,
            max_lag: Duration::ZERO,
        })
    }

    /// Releases up to `burst` overdue arrivals in a row before it lets others run.
    ///
    /// With one spawned task per arrival keep it below 61, the number of tasks that tokio polls between two
    /// looks at its drivers: the tasks of one burst are then done before the next. Where arrivals are handed
    /// to tasks that exist already, 256 lets a late pacer catch up faster.
    ///
    /// # Errors
    /// When `burst` is zero.
    pub fn with_burst(mut self, burst: u32) -> Result<Self, PacerError> {
        if burst == 0 {
            return Err(PacerError::NoBurst);
        }
        self.burst = burst;
        Ok(self)
    }

    /// The arrivals not released yet, in order: those that were due and never sent, and those still ahead.
    pub fn into_remaining(self) -> impl Iterator<Item = Ticket> {
        let mut inserted = self.inserted;
        let mut scheduled = self.next.into_iter().chain(self.tickets).peekable();
        std::iter::from_fn(
            move || match inserted.or_earlier(scheduled.peek().copied()) {
                (_, true) => inserted.pop(),
                (_, false) => scheduled.next(),
            },
        )
    }
}

impl<I> Pacer<I> {
    /// The instant that offsets count from.
    #[must_use]
    pub fn start(&self) -> Instant {
        self.start
    }

    /// The next arrival to release; `None` when all have been.
    #[must_use]
    pub fn peek(&self) -> Option<Ticket> {
        self.inserted.or_earlier(self.next).0
    }

    /// Releases `ticket` as well, in its turn among the others, and as precisely: an arrival that became known only
    /// in the course of the run, such as the next request of a user who has just been answered. One whose instant
    /// has passed is released at once, and its lag says how late that is.
    ///
    /// Inserting takes O(log n), where n inserted arrivals are ahead. Whoever inserts outside the task that polls the
    /// pacer must wake that task.
    ///
    /// # Examples
    /// A user who asks again 5 ms after each answer, while others come every 10 ms:
    /// ```
    /// use openloop_sched::{Arrivals, Pacer, Precision, Schedule, Ticket};
    /// use std::{future::poll_fn, pin::Pin, time::Duration};
    /// use futures_core::Stream;
    /// use tokio::time::Instant;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schedule = Schedule::new("100/30ms".parse()?, Arrivals::Constant, 1);
    /// let mut pacer = Pacer::new(schedule, Instant::now(), Precision::default())?;
    /// let mut released = Vec::new();
    /// while let Some(due) = poll_fn(|cx| Pin::new(&mut pacer).poll_next(cx)).await {
    ///     released.push((due.ticket.seq, due.fired.as_duration().as_millis()));
    ///     if due.ticket.seq == 0 {
    ///         let intended = due.fired.saturating_add(Duration::from_millis(5));
    ///         pacer.insert(Ticket { seq: 100, intended });
    ///     }
    /// }
    /// assert_eq!(released, [(0, 0), (100, 5), (1, 10), (2, 20)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert(&mut self, ticket: Ticket) {
        if self
            .peek()
            .is_none_or(|next| ticket.intended < next.intended)
        {
            // It is not what the alarm was set for.
            self.waiting = None;
        }
        self.inserted.push(ticket);
    }

    /// Waits until `until` before it ends, though no arrival is left: more may be [inserted](Pacer::insert). An
    /// earlier instant takes that back, and [`Offset::ZERO`] makes it end with its last arrival, as a new pacer does.
    ///
    /// A pacer that has ended goes on when an arrival is inserted.
    pub fn stay_open(&mut self, until: Offset) {
        if until != self.open_until && self.peek().is_none() {
            self.waiting = None;
        }
        self.open_until = until;
    }

    /// The precision in force.
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Why the precision in force is not the one asked for; `None` where it is.
    #[must_use]
    pub fn fallback(&self) -> Option<&Fallback> {
        self.fallback.as_ref()
    }

    /// How late the last release was: fired − intended.
    #[must_use]
    pub fn last_lag(&self) -> Duration {
        self.last_lag
    }

    /// How late the latest release was.
    #[must_use]
    pub fn max_lag(&self) -> Duration {
        self.max_lag
    }

    /// CPU time spent on waiting alone, in the window of [`Precision::Spin`].
    ///
    /// The sum of the gaps between two successive polls in the window that are so short that nothing else ran:
    /// at most 1 µs, or twice the shortest gap seen where that is more (up to 5 µs). Such a gap holds one look
    /// of the runtime at its drivers (0.4 to 0.6 µs where it was measured), and less than that of anyone's
    /// work. A longer one means that tasks ran or that the machine took the core away, and counts as nothing.
    #[must_use]
    pub fn spun(&self) -> Duration {
        self.spin.total()
    }

    /// Where it is [`Precision::Spin`], yields until `until` instead of sleeping; an earlier instant takes that back.
    ///
    /// For as long as an answer is awaited. On an idle core the kernel hands it over some 50 µs after it has come,
    /// which is then part of its latency; a runtime that never sleeps picks it up at once. Between looks the core is
    /// offered to other threads, so that a service on the same host is not kept from answering. What it costs is in
    /// [`spun`](Pacer::spun).
    pub fn stay_awake(&mut self, until: Offset) {
        self.awake_until = signed(u128::from(until.as_nanos()));
    }

    fn is_awake(&self, now: i64) -> bool {
        now < self.awake_until && matches!(self.precision, Precision::Spin { .. })
    }

    /// Nanoseconds since the start, negative before it.
    fn now(&self) -> i64 {
        let now = Instant::now();
        match now.checked_duration_since(self.start) {
            Some(since) => signed(since.as_nanos()),
            None => -signed(self.start.saturating_duration_since(now).as_nanos()),
        }
    }

    fn release(&mut self, ticket: Ticket, now: i64) -> Due {
        let fired = Offset::from_nanos(now.unsigned_abs());
        self.released += 1;
        self.last_lag = fired.saturating_since(ticket.intended);
        self.max_lag = self.max_lag.max(self.last_lag);
        Due { ticket, fired }
    }

    /// The timer in use cannot serve: go on with tokio's, or by yielding alone where there is none.
    fn fall_back(&mut self, reason: Fallback) {
        self.fallback = Some(reason);
        self.precision = Precision::Coarse;
        self.window = Window::up_to(Duration::ZERO);
        self.waiting = None;
        if let Ok(alarm) = Alarm::sleep(self.start) {
            self.alarm = alarm;
        }
    }

    /// Lets the other tasks and the drivers run, then polls again.
    fn give_way(&mut self, cx: &mut Context<'_>) -> Poll<Option<Due>> {
        self.released = 0;
        // Dropped after one poll: that poll has handed the waker to the scheduler, which wakes it after it
        // has polled its drivers.
        let _ = pin!(tokio::task::yield_now()).poll(cx);
        Poll::Pending
    }
}

impl<I: Iterator<Item = Ticket>> Stream for Pacer<I> {
    type Item = Due;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Due>> {
        let pacer = self.get_mut();
        let (ticket, is_inserted) = pacer.inserted.or_earlier(pacer.next);
        let until = match ticket {
            Some(ticket) => ticket.intended,
            None if pacer.open_until > Offset::ZERO => pacer.open_until,
            None => return Poll::Ready(None),
        };
        let intended = signed(u128::from(until.as_nanos()));
        loop {
            let now = pacer.now();
            if pacer.spin.resumed(now) && clock_is_paused() {
                pacer.fall_back(Fallback::PausedClock);
            }
            // The clock decides that a wait is over, not the timer: it may be polled for another reason.
            if let Some(alarm) = pacer.waiting.take_if(|alarm| *alarm <= now) {
                pacer.window.learn(now - alarm);
            }
            if now >= intended {
                let Some(ticket) = ticket else {
                    return Poll::Ready(None);
                };
                if pacer.released >= pacer.burst {
                    return pacer.give_way(cx);
                }
                if is_inserted {
                    pacer.inserted.pop();
                } else {
                    pacer.next = pacer.tickets.next();
                }
                return Poll::Ready(Some(pacer.release(ticket, now)));
            }
            if pacer.is_awake(now) {
                // It does not wait for the alarm, so that one says nothing about the timer's lateness.
                pacer.waiting = None;
                if now < intended - pacer.window.nanos() {
                    // A service on this host may have been woken on this very core: it goes first, or the answer
                    // would wait for those who wait for it.
                    std::thread::yield_now();
                }
            } else if pacer.waiting.is_none() {
                let wake = intended - pacer.window.nanos();
                pacer.waiting = Some(wake).filter(|wake| now < *wake);
            }
            let Some(alarm) = pacer.waiting else {
                pacer.spin.yielded(now);
                return pacer.give_way(cx);
            };
            match pacer.alarm.poll_until(alarm, cx) {
                Poll::Pending => {
                    pacer.released = 0;
                    return Poll::Pending;
                }
                // A timer that rings before the clock is there is set again: they may differ by a reading of
                // the clock, or the clock has been paused since.
                Poll::Ready(Ok(())) => {
                    if pacer.fallback.is_none() && pacer.now() < alarm && clock_is_paused() {
                        pacer.fall_back(Fallback::PausedClock);
                    }
                }
                Poll::Ready(Err(error)) => pacer.fall_back(Fallback::Timer(error.to_string())),
            }
        }
    }
}

// Nothing in it is pinned in place: what needs to be is in a box.
impl<I> Unpin for Pacer<I> {}

impl<I> fmt::Debug for Pacer<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pacer")
            .field("next", &self.peek())
            .field("precision", &self.precision)
            .field("fallback", &self.fallback)
            .field("max_lag", &self.max_lag)
            .finish_non_exhaustive()
    }
}

/// Nanoseconds with a sign. 292 years are enough to wait for.
fn signed(nanos: u128) -> i64 {
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::future::poll_fn;

    use super::*;
    use crate::{Arrivals, Schedule};

    #[tokio::test]
    async fn a_timer_that_fails_in_use_is_replaced_and_nothing_is_lost() {
        let schedule = Schedule::new("100/100ms".parse().unwrap(), Arrivals::Constant, 1);
        let mut pacer = Pacer::new(schedule, Instant::now(), Precision::SPIN).unwrap();
        for seq in 0..10 {
            let mut due = None;
            if seq == 3 {
                // In the middle of a wait, unless the machine has been away for as long.
                let poll = poll_fn(|cx| Poll::Ready(Pin::new(&mut pacer).poll_next(cx))).await;
                if let Poll::Ready(ready) = poll {
                    due = ready;
                }
                pacer.fall_back(Fallback::Timer("gone".to_owned()));
            }
            if due.is_none() {
                due = poll_fn(|cx| Pin::new(&mut pacer).poll_next(cx)).await;
            }
            let due = due.unwrap();
            assert_eq!(due.ticket.seq, seq);
            assert!(due.fired >= due.ticket.intended);
        }
        assert_eq!(pacer.precision(), Precision::Coarse);
        assert_eq!(pacer.fallback(), Some(&Fallback::Timer("gone".to_owned())));
    }

    #[tokio::test]
    async fn it_yields_while_it_is_to_stay_awake_and_sleeps_afterwards() {
        // The first arrival is 12 minutes away.
        let schedule = Schedule::new("0.0001/100000s".parse().unwrap(), Arrivals::Poisson, 1);
        let pacer = |precision| Pacer::new(schedule.clone(), Instant::now(), precision).unwrap();
        let long = Offset::from(Duration::from_secs(700));

        let mut awake = pacer(Precision::SPIN);
        assert!(awake.peek().unwrap().intended > long);
        awake.stay_awake(long);
        let mut polls = 0;
        // Polled again only because it asks for it.
        poll_fn(|cx| {
            polls += 1;
            assert!(Pin::new(&mut awake).poll_next(cx).is_pending());
            if polls < 10 {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
        assert_eq!(awake.waiting, None);

        let mut asleep = awake;
        asleep.stay_awake(Offset::ZERO);
        let mut of_timer = pacer(Precision::Timer);
        of_timer.stay_awake(long);
        for mut pacer in [asleep, of_timer] {
            let polled = poll_fn(|cx| Poll::Ready(Pin::new(&mut pacer).poll_next(cx))).await;
            assert!(polled.is_pending() && pacer.waiting.is_some());
        }
    }

    #[tokio::test]
    async fn a_clock_that_is_paused_in_the_window_does_not_spin_for_ever() {
        let schedule = Schedule::new("20/60s".parse().unwrap(), Arrivals::Constant, 1);
        let endless = Precision::Spin {
            window: Duration::MAX,
        };
        let mut pacer = Pacer::new(schedule, Instant::now(), endless).unwrap();
        // A window of 2 s: from the first arrival on there is no wait but in the window.
        (0..200_000).for_each(|_| pacer.window.learn(i64::MAX));
        assert!(pacer.window.nanos() > 1_900_000_000);
        tokio::time::pause();
        let mut released = 0;
        while let Some(due) = poll_fn(|cx| Pin::new(&mut pacer).poll_next(cx)).await {
            assert!(due.fired >= due.ticket.intended);
            released += 1;
        }
        assert_eq!(released, 1200);
        assert_eq!(pacer.fallback(), Some(&Fallback::PausedClock));
    }
}
