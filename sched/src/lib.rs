//! When requests start.
#![forbid(unsafe_code)]

mod offset;
mod rate;
mod ticket;

pub use offset::Offset;
pub use rate::{Rate, RateError};
pub use ticket::{Due, Ticket};
