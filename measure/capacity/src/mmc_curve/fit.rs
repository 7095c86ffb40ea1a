//! The curve of least squares, and what is known of it.

use super::region::Region;
use super::search::{Curve, Search};
use crate::{CapacityError, Goodness, Interval, MMc, Queue, check};

/// Points beyond this are more than a fit needs.
const MOST: usize = 10_000;

/// Parameters of the curve: c and S.
pub(super) const PARAMETERS: usize = 2;

/// A measured point: the mean response at a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ResponsePoint {
    /// λ, arrivals per second.
    pub rate: f64,
    /// W, the mean response in seconds.
    pub mean_response: f64,
}

/// The curve of M/M/c through measured points, with what is known of it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct MMcFit {
    /// c, the servers of the curve of least squares.
    pub servers: u32,
    /// S, its mean service in seconds.
    pub mean_service: f64,
    /// c / S, its highest rate per second.
    pub highest_rate: f64,
    /// Of c. Its upper end is infinite where even 10 000 servers describe the points as well: no point comes near
    /// enough to saturation to tell.
    pub servers_interval: Interval,
    /// Of S.
    pub service_interval: Interval,
    /// Of c / S; its upper end is infinite where that of c is.
    pub rate_interval: Interval,
    /// The relative error of a point about the curve, √(Σ ln²(W/W(λ)) / (n − 2)).
    pub relative_error: f64,
    /// What that error says of the fit, in a word.
    pub goodness: Goodness,
}

impl MMcFit {
    /// W(λ), the mean response in seconds that the curve has at `rate` arrivals per second.
    ///
    /// # Errors
    /// When `rate` is negative, NaN, infinite or not below [`MMcFit::highest_rate`].
    pub fn mean_response(&self, rate: f64) -> Result<f64, CapacityError> {
        Ok(MMc::new(rate, self.mean_service, self.servers)?.mean_response())
    }
}

/// The curve of M/M/c, W(λ) = S + C(c, λS) S / (c − λS), through `points`, with c free.
///
/// | symbol | meaning |
/// | --- | --- |
/// | c | servers, from 1 to 10 000: those of one exponential pool that would wait like this |
/// | S | mean service |
/// | C | Erlang C |
///
/// Least squares of ln W: of *relative* errors, which are assumed to be independent and equally large. Intervals are
/// of 95 %, by the profile of the sum of squares against Student's t (D. M. Bates, D. G. Watts, *Nonlinear Regression
/// Analysis*, 1988, chapter 6).
///
/// A fit is a description. What takes time without occupying anybody, such as the network, raises c and S together and
/// leaves their ratio; services of less variance than exponential ones raise c as well. Give only rates that are served:
/// beyond saturation the mean response is a matter of how long was measured.
///
/// ```
/// use openloop_capacity::mmc_curve::{self, ResponsePoint};
///
/// let sweep = [(50.0, 0.0402), (100.0, 0.0404), (150.0, 0.0473), (170.0, 0.0588), (185.0, 0.0920), (195.0, 0.223)];
/// let points = sweep.map(|(rate, mean_response)| ResponsePoint { rate, mean_response });
/// let fit = mmc_curve::fit(&points)?;
/// assert_eq!((fit.servers, fit.goodness.to_string().as_str()), (8, "good"));
/// assert!(fit.rate_interval.holds(200.0));
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
///
/// # Errors
/// When there are fewer than 3 points, more than 10 000, or fewer than 3 different rates, or when a rate or a response is
/// not in the range of 10⁻³⁰ to 10³⁰.
pub fn fit(points: &[ResponsePoint]) -> Result<MMcFit, CapacityError> {
    for point in points {
        check::positive("the arrival rate", point.rate)?;
        check::positive("the mean response", point.mean_response)?;
    }
    let mut rates: Vec<f64> = points.iter().map(|point| point.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    if points.len() > MOST || rates.len() <= PARAMETERS {
        return Err(CapacityError::Points {
            curve: "curve of M/M/c",
            points: points.len(),
            loads: rates.len(),
            needed: "3 to 10000 points, at 3 or more different rates",
        });
    }
    let mut search = Search::new(points);
    let best = search.best();
    let Curve {
        servers,
        service,
        squares,
    } = best;
    let Region {
        servers: of_servers,
        service: of_service,
        rate: of_rate,
    } = Region::around(&mut search, best);
    let relative_error = (squares / (points.len() - PARAMETERS) as f64).sqrt();
    Ok(MMcFit {
        servers,
        mean_service: service,
        highest_rate: f64::from(servers) / service,
        servers_interval: of_servers,
        service_interval: of_service,
        rate_interval: of_rate,
        relative_error,
        goodness: Goodness::of(relative_error),
    })
}
