//! Response against rate: the curve of M/M/c through measured points.
//!
//! | I want … | look at |
//! | --- | --- |
//! | servers, service and highest rate behind a sweep, and how far to trust them | [`fit`], [`MMcFit`] |

mod fit;
mod region;
mod search;

pub use fit::{MMcFit, ResponsePoint, fit};
