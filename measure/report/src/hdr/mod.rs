//! Histograms as other HdrHistogram libraries write and read them.

mod buckets;
mod decode;
mod encode;

pub(crate) use buckets::{Buckets, Precision};
pub use decode::DecodeError;
pub(crate) use decode::decode;
pub(crate) use encode::{encode, encode_ours};
