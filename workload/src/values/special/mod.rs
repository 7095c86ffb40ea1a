//! Special functions, of `libm` alone, so that they are the same on every platform.

mod gamma;
mod normal;

pub(super) use gamma::{gamma_p, gamma_quantile};
pub(super) use normal::{normal_cdf, normal_quantile};
