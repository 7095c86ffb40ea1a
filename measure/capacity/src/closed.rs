//! What a closed loop can do at the most and at the least, by operational analysis.

use crate::{CapacityError, check};

/// The users that a bound is told for at most: more are not counted one by one by `f64`.
const COUNTABLE: u64 = 1 << 53;

/// A closed loop of users who ask, wait for the answer, think, and ask again: batch workers on one service, or the client of
/// a connection pool.
///
/// | symbol | meaning |
/// | --- | --- |
/// | D_k = V_k S_k | demand: seconds that one request needs of station k, over all its visits |
/// | D, D_max | their sum, and that of the bottleneck |
/// | Z | think time |
/// | N | users |
/// | N\* = (D + Z) / D_max | users from which on somebody has to wait |
///
/// **Asymptotic bounds** hold for any laws and any order of service, as long as demands do not depend on the load:
///
/// | | at the least | at the most |
/// | --- | --- | --- |
/// | throughput | N / (N D + Z) | min(N / (D + Z), 1 / D_max) |
/// | response | max(D, N D_max − Z) | N D |
///
/// **Balanced-job bounds** are much narrower, and hold where each station is a queue for which mean value analysis is exact
/// (exponential services first come first served, or any services with the processor shared); D_avg is D over the number of
/// stations:
///
/// | | at the least | at the most |
/// | --- | --- | --- |
/// | throughput | N / (D + Z + (N − 1) D_max / (1 + Z/(N D))) | min(1 / D_max, N / (D + Z + (N − 1) D_avg / (1 + Z/D))) |
///
/// P. J. Denning, J. P. Buzen, *The Operational Analysis of Queueing Network Models* (1978); E. D. Lazowska et al.,
/// *Quantitative System Performance* (1984), chapter 5. Cost: one pass over the stations.
///
/// ```
/// use openloop_capacity::closed::Closed;
///
/// // A request takes 5 ms of the service's core and 20 ms of the disk; users think for a second.
/// let closed = Closed::new(&[0.005, 0.020], 1.0)?;
/// assert!((closed.saturation() - 51.25).abs() < 1e-9);
/// let bounds = closed.asymptotic(20)?;
/// assert!((bounds.throughput.upper - 20.0 / 1.025).abs() < 1e-9);
/// // However many they are, the disk serves no more than 50 a second.
/// assert_eq!(closed.asymptotic(1000)?.throughput.upper, 50.0);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closed {
    stations: f64,
    demand: f64,
    bottleneck: f64,
    think: f64,
}

/// Between which values a closed loop stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedBounds {
    /// Requests per second.
    pub throughput: Bounds,
    /// The mean response, without the think time, in seconds.
    pub mean_response: Bounds,
}

/// The least and the most that something can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least.
    pub lower: f64,
    /// The most.
    pub upper: f64,
}

impl Closed {
    /// A loop whose requests need so many seconds of each station, over all their visits, and whose users think for
    /// `think` seconds in the mean.
    ///
    /// # Errors
    /// When there is no station, a demand is not in the range of 10⁻³⁰ to 10³⁰, or the think time is NaN, negative or not in
    /// that range (it may be 0).
    pub fn new(demands: &[f64], think: f64) -> Result<Self, CapacityError> {
        let (mut demand, mut bottleneck) = (0.0, 0.0);
        for one in demands {
            let one = check::positive("a demand", *one)?;
            demand += one;
            bottleneck = f64::max(bottleneck, one);
        }
        check::within(
            "the number of stations",
            demands.len() as f64,
            1.0..=f64::MAX,
            "the demand of at least 1",
        )?;
        Ok(Closed {
            stations: demands.len() as f64,
            demand,
            bottleneck,
            think: check::not_negative("the think time", think)?,
        })
    }

    /// D, the seconds that a request takes where nobody is in its way.
    #[must_use]
    pub const fn demand(&self) -> f64 {
        self.demand
    }

    /// 1 / D_max, the throughput that no number of users exceeds.
    #[must_use]
    pub fn highest_throughput(&self) -> f64 {
        1.0 / self.bottleneck
    }

    /// N\*, the users from which on somebody has to wait: with more the throughput cannot grow as their number does.
    #[must_use]
    pub fn saturation(&self) -> f64 {
        (self.demand + self.think) / self.bottleneck
    }

    /// The bounds that hold whatever the laws of the services are.
    ///
    /// # Errors
    /// When there are no users, or more than 2⁵³.
    pub fn asymptotic(&self, users: u64) -> Result<ClosedBounds, CapacityError> {
        let n = count(users)?;
        let Closed { demand, think, .. } = *self;
        Ok(ClosedBounds {
            throughput: Bounds {
                lower: n / (n * demand + think),
                upper: f64::min(n / (demand + think), self.highest_throughput()),
            },
            mean_response: Bounds {
                lower: f64::max(demand, n * self.bottleneck - think),
                upper: n * demand,
            },
        })
    }

    /// The narrower bounds that hold where mean value analysis is exact.
    ///
    /// # Errors
    /// As for [`asymptotic`](Closed::asymptotic).
    pub fn balanced(&self, users: u64) -> Result<ClosedBounds, CapacityError> {
        let n = count(users)?;
        let Closed { demand, think, .. } = *self;
        let average = demand / self.stations;
        let shortest = demand + (n - 1.0) * average / (1.0 + think / demand);
        let longest = demand + (n - 1.0) * self.bottleneck / (1.0 + think / (n * demand));
        Ok(ClosedBounds {
            throughput: Bounds {
                lower: n / (longest + think),
                upper: f64::min(n / (shortest + think), self.highest_throughput()),
            },
            mean_response: Bounds {
                lower: f64::max(shortest, n * self.bottleneck - think),
                upper: longest,
            },
        })
    }
}

fn count(users: u64) -> Result<f64, CapacityError> {
    if (1..=COUNTABLE).contains(&users) {
        return Ok(users as f64);
    }
    Err(CapacityError::OutOfRange {
        name: "the number of users",
        value: users as f64,
        expected: "a whole number from 1 to 2^53",
    })
}
