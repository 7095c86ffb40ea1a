//! The universal scalability law: what more concurrency, or more nodes, bring.
//!
//! | I want … | look at |
//! | --- | --- |
//! | throughput at a load, and where it peaks | [`Usl`] |
//! | the curve through measured points, and how far to trust it | [`fit`], [`UslFit`] |

mod bootstrap;
mod curve;
mod fit;
mod least_squares;

pub use curve::Usl;
pub use fit::{UslFit, UslPoint, fit};
