//! Statistics of autocorrelated samples.

mod kendall;
mod sectioning;

pub(crate) use kendall::Kendall;
pub(crate) use sectioning::section;
