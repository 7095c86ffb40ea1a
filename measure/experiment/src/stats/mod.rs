//! Statistics of autocorrelated samples.

mod exceedance;
mod kendall;
mod quantiles;
mod sectioning;
mod variation;
mod welch;

pub(crate) use exceedance::{Exceedance, correlated};
pub(crate) use kendall::Kendall;
pub(crate) use quantiles::{chi_squared, fisher_above, student};
pub use sectioning::section;
pub(crate) use sectioning::variance_of_point;
pub use variation::Variation;
pub(crate) use welch::{Difference, paired, welch};
