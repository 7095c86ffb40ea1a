//! How long any future took.
#![forbid(unsafe_code)]

mod describe;
mod details;
mod operation;
mod verdict;

pub use describe::{Classify, Describe, Described};
pub use details::Details;
pub use operation::{AnyOperation, AnyOutput, Operation, erase};
pub use verdict::{Verdict, completed, ok_err};
