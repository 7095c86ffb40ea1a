//! Why a pacer waits otherwise than asked, or not at all.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why [`Precision::Coarse`](crate::Precision::Coarse) is in force instead of the precision asked for.
///
/// Its text says what that means and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fallback {
    /// Time stands still until every task waits, so a timer of the kernel would never be reached.
    #[error("tokio's clock is paused: instants are exact to its whole milliseconds")]
    PausedClock,
    /// timerfd is Linux's.
    #[error("this platform has no timerfd: releases are about a millisecond late")]
    Platform,
    /// A timerfd needs the runtime's I/O driver.
    ///
    /// tokio tells this by a panic alone. It is caught, but the panic hook prints its message, and where
    /// panics abort it does: enable the driver.
    #[error(
        "the tokio runtime has no I/O driver: releases are about a millisecond late; build it with enable_all()"
    )]
    NoIoDriver,
    /// The kernel refused the timer, or its registration.
    #[error("the kernel timer failed ({0}): releases are about a millisecond late")]
    Timer(String),
}

/// Why a pacer cannot wait at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacerError {
    /// Made outside a runtime.
    #[error("a pacer needs a tokio runtime around it: make it inside block_on or a task")]
    NoRuntime,
    /// Coarse is all there is, and the runtime has no timer for it.
    #[error("the tokio runtime has no timer: build it with enable_all() or enable_time()")]
    NoTimer,
    /// Nothing could ever be released.
    #[error("a burst of 0 releases nothing: at least 1")]
    NoBurst,
}

/// Calls `register`, which panics where the runtime lacks a driver, and turns that into `None`.
///
/// tokio 1.54 cannot be asked whether a runtime has an I/O or a time driver: its only answer is a panic in
/// the registration. The panic hook still runs, so its message is seen, and with panic = "abort" there is no
/// way but to enable the driver. Nothing observable is left half-done: what `register` took is dropped.
pub(super) fn unless_no_driver<T>(register: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(register)).ok()
}
