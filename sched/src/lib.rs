//! When requests start: rate profiles, arrival processes, exact schedules, and a pacer that is never early.
//!
//! A **schedule** is a pure value: the instant of every arrival of a run, known before anything is sent and
//! moved by nothing that happens later. It is a *profile* (the rate over time) under a *process* (how
//! arrivals scatter around that rate). A **pacer** releases a schedule's arrivals on tokio's clock and says how
//! late each release was.
//!
//! # What do you want to send?
//!
//! | | |
//! | --- | --- |
//! | steady traffic | [`Profile::hold`] |
//! | a ramp up or down | [`Profile::ramp`] |
//! | stairs, one rate after the other | [`Profile::step`] |
//! | a spike on a steady base | [`Profile::spike`] |
//! | a day's swing | [`Profile::sine`] |
//! | one after the other, or again and again | [`Profile::then`], [`Profile::repeat`] |
//! | bursts at random, so many seconds on and off | [`Profile::bursts`] |
//! | what a user wrote: `0->100/10s,100/20s` | `text.parse::<Profile>()` |
//! | a recorded trace, faster or slower | [`Recorded`], [`Schedule::recorded`] |
//!
//! # How do arrivals scatter?
//!
//! | | |
//! | --- | --- |
//! | evenly spaced, like a metronome | [`Arrivals::Constant`] |
//! | independent of each other, like many users | [`Arrivals::Poisson`] |
//! | in clumps, or more evenly than at random | [`Arrivals::gamma`] |
//! | in a way of your own | [`Process`], [`Schedule::with_process`] |
//!
//! ```
//! use openloop_sched::{Arrivals, Profile, Rate, Schedule};
//! use std::time::Duration;
//!
//! let rate = Rate::per_second(100.0)?;
//! let ramp = Profile::ramp(Rate::ZERO, rate, Duration::from_secs(10))?;
//! let profile = ramp.then(Profile::hold(rate, Duration::from_secs(20))?)?;
//!
//! // Fractions carry over, and totals are not off by one: 500 on the ramp, 2000 after it.
//! let even = Schedule::new(profile.clone(), Arrivals::Constant, 1);
//! assert_eq!(even.offered(), 2500);
//!
//! // The same seed gives the same instants; of a random process the total is random.
//! let random = Schedule::new(profile, Arrivals::Poisson, 1);
//! assert_eq!(random.offered(), 2515);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How is it shared, checked and sent?
//!
//! | | |
//! | --- | --- |
//! | over threads or machines, without changing it | [`Schedule::shard`] |
//! | counted by phase before anything is sent | [`Schedule::preview`] |
//! | released, each arrival at its instant | [`Pacer`] |
//! | how exactly, for how much CPU time | [`Precision`] |
//! | in a test, in seconds | [`Pacer`] under tokio's paused clock |
//!
//! A trace at half its length, shared by two machines:
//!
//! ```
//! use openloop_sched::{Recorded, Schedule};
//!
//! let csv = "time,path\n0.0,/\n0.8,/a\n1.0,/b\n";
//! let schedule = Schedule::recorded(Recorded::read(csv.as_bytes(), 0.5)?);
//! let second: Vec<_> = schedule.shard(1, 2)?.collect();
//! assert_eq!((second.len(), second[0].seq), (1, 1));
//! assert_eq!(second[0].intended.as_nanos(), 400_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Exactness
//!
//! Rates are whole nano-hertz, times whole nanoseconds, and their products integers of 128 bits: in floating
//! point, 3 % of the round products (0.29/s for 100 s) come out one arrival short. Instants are computed, not
//! accumulated, cut to the nanosecond, and the same on every platform. Windows are half-open: an arrival on a
//! joint belongs to what starts there, and none is at the end.
//!
//! Everything random comes from one seed by named streams ([`stream`]). The first values of each are pinned
//! by tests; a change of them is a **number-breaking** one in the changelog.
//!
//! # Panics
//!
//! None on input: what cannot be is refused where it is made, by an error with the value in it.
#![forbid(unsafe_code)]

mod arrivals;
mod duration;
mod offset;
mod op_time;
mod pacer;
mod preview;
mod process;
mod profile;
mod rate;
mod recorded;
mod schedule;
mod seed;
mod shard;
mod ticket;

pub use arrivals::{Arrivals, ArrivalsError};
pub use duration::{DurationError, parse_duration};
pub use offset::Offset;
pub use op_time::OpTime;
pub use pacer::{Fallback, Pacer, PacerError, Precision, PrecisionError, clock_is_paused};
pub use preview::Preview;
pub use process::{
    CoefficientOfVariation, CoefficientOfVariationError, Constant, Gamma, Poisson, Process,
};
pub use profile::{Bursts, ParseBurstsError, ParseProfileError, Profile, ProfileError};
pub use rate::{Rate, RateError};
pub use recorded::{Recorded, RecordedError};
pub use schedule::Schedule;
pub use seed::stream;
pub use shard::{Shard, ShardError};
pub use ticket::{Due, Ticket};
