//! When requests start.
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
pub use shard::ShardError;
pub use ticket::{Due, Ticket};
