//! How well a quantile will be known.

use crate::series::Series;
use crate::units::{Percent, Short};
use openloop_measurer::Quantile;
use std::fmt;
use std::time::Duration;

/// The relative standard deviation of a measured quantile of an M/M/1 queue is k/√n; here are ρ and k at p50, p90, p99.
///
/// At ρ → 0 arrivals are independent, and k = √(q(1 − q)) / ((1 − q)·−ln(1 − q)); the others are simulated, 200 to 3000
/// replications each.
const TABLE: [(f64, [f64; 3]); 5] = [
    (0.0, [1.44, 1.30, 2.16]),
    (0.5, [2.6, 3.4, 6.3]),
    (0.6, [3.4, 4.6, 8.7]),
    (0.75, [5.7, 7.9, 15.0]),
    (0.9, [15.0, 22.0, 40.0]),
];

/// 95 % of a normal distribution lie within so many standard deviations.
const NORMAL: f64 = 1.96;

/// How well a run will know a quantile of the response.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Resolution {
    /// Which quantile.
    pub quantile: Quantile,
    /// Half the width of its 95 % interval, as a share of it.
    pub relative: f64,
    /// On what the estimate rests.
    pub basis: ResolutionBasis,
}

/// On what an estimate of the resolution rests.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResolutionBasis {
    /// On the behaviour of an M/M/1 queue.
    Table {
        /// Its utilisation.
        utilisation: f64,
        /// How many arrivals there will be.
        arrivals: u64,
    },
    /// On the windows of a pilot run.
    Pilot {
        /// Its steady phase.
        pilot: Duration,
        /// That of the run which is planned.
        planned: Duration,
    },
}

impl Resolution {
    /// Of an M/M/1 queue at that utilisation with so many arrivals: 1.96·k/√n, k from a table and between its rows by
    /// ln k over −ln(1 − ρ). `None` above P99, and for a utilisation that is not in [0, 1).
    #[must_use]
    pub fn by_table(quantile: Quantile, utilisation: f64, arrivals: u64) -> Option<Self> {
        if arrivals == 0 || !(0.0..1.0).contains(&utilisation) {
            return None;
        }
        let at = |rho: f64| -(1.0 - rho).ln();
        // The last two rows go on beyond 0.9.
        let above = TABLE.iter().position(|(rho, _)| utilisation < *rho);
        let above = above.unwrap_or(TABLE.len() - 1).max(1);
        let ((low, of_low), (high, of_high)) = (TABLE[above - 1], TABLE[above]);
        let share = (at(utilisation) - at(low)) / (at(high) - at(low));
        let k = between(of_low, quantile)?.ln() * (1.0 - share)
            + between(of_high, quantile)?.ln() * share;
        Some(Resolution {
            quantile,
            relative: NORMAL * k.exp() / (arrivals as f64).sqrt(),
            basis: ResolutionBasis::Table {
                utilisation,
                arrivals,
            },
        })
    }

    /// From the interval that a pilot run had, as it narrows with the root of the length. `None` where the pilot has
    /// no interval.
    #[must_use]
    pub fn by_pilot(
        quantile: Quantile,
        pilot: (&Series, Duration),
        planned: Duration,
    ) -> Option<Self> {
        let (series, length) = pilot;
        let point = series.quantile(quantile)?.exact()? as f64;
        let (low, high) = series.interval(quantile)?;
        let shrinks = (length.as_secs_f64() / planned.as_secs_f64()).sqrt();
        let relative = (high - low) / 2.0 / point * shrinks;
        relative.is_finite().then_some(Resolution {
            quantile,
            relative,
            basis: ResolutionBasis::Pilot {
                pilot: length,
                planned,
            },
        })
    }

    /// How long the steady phase would have to be, if it is `steady` now, to tell a quantile of `value` from a bound
    /// of `limit`; `None` if they are the same, or it is longer than can be said.
    ///
    /// ```
    /// use openloop_experiment::Resolution;
    /// use openloop_measurer::Quantile;
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let resolution = Resolution::by_table(Quantile::P99, 0.75, 45_000).unwrap();
    /// let ms = Duration::from_millis;
    /// // 19 ms ± 14 % against 20 ms: some seven minutes would tell.
    /// let needed = resolution.needed(minute, ms(19), ms(20)).unwrap();
    /// assert!((400..450).contains(&needed.as_secs()));
    /// ```
    #[must_use]
    pub fn needed(&self, steady: Duration, value: Duration, limit: Duration) -> Option<Duration> {
        let (value, limit) = (value.as_secs_f64(), limit.as_secs_f64());
        let factor = (self.relative * value / (limit - value)).powi(2);
        Duration::try_from_secs_f64(steady.as_secs_f64() * factor).ok()
    }
}

/// k at a quantile, between those of the table by ln k over −ln(1 − q).
fn between(row: [f64; 3], q: Quantile) -> Option<f64> {
    let at = |q: f64| -(1.0 - q).ln();
    let known = [0.5, 0.9, 0.99].map(at);
    let wanted = at(q.as_f64());
    // Below the median hardly anybody asks, and k moves little.
    let wanted = wanted.max(known[0]);
    let upper = known.iter().position(|x| wanted <= *x + 1e-9)?.max(1);
    let share = (wanted - known[upper - 1]) / (known[upper] - known[upper - 1]);
    let ln = row[upper - 1].ln() * (1.0 - share) + row[upper].ln() * share;
    Some(ln.exp())
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "± {} at {}", Percent(self.relative), self.quantile)?;
        match self.basis {
            ResolutionBasis::Table {
                utilisation,
                arrivals,
            } => write!(
                f,
                " ({arrivals} arrivals, as an M/M/1 queue at ρ = {})",
                Short(utilisation)
            ),
            ResolutionBasis::Pilot { pilot, planned } => write!(
                f,
                " (by a pilot of {:.0} s for one of {:.0} s)",
                pilot.as_secs_f64(),
                planned.as_secs_f64()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_the_table_are_given_back_and_what_lies_between_lies_between() {
        let k =
            |q, rho| Resolution::by_table(q, rho, 1_000_000).unwrap().relative * 1000.0 / NORMAL;
        for (rho, [p50, p90, p99]) in TABLE {
            assert!((k(Quantile::P50, rho) / p50 - 1.0).abs() < 1e-9, "{rho}");
            assert!((k(Quantile::P90, rho) / p90 - 1.0).abs() < 1e-9, "{rho}");
            assert!((k(Quantile::P99, rho) / p99 - 1.0).abs() < 1e-9, "{rho}");
        }
        assert!((7.9..15.0).contains(&k(Quantile::P95, 0.75)));
        assert!((5.7..15.0).contains(&k(Quantile::P50, 0.8)));
        assert!(k(Quantile::P50, 0.95) > 15.0);
        assert_eq!(Resolution::by_table(Quantile::P99_9, 0.5, 1000), None);
        assert_eq!(Resolution::by_table(Quantile::P99, 1.0, 1000), None);
        assert_eq!(Resolution::by_table(Quantile::P99, 0.5, 0), None);
    }
}
