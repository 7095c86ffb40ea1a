//! What ratios are ratios to.

use openloop_measurer::{Population, Quantile};
use std::time::Duration;

/// The P99 of an idle service up to which the literal ratio is in use, as a multiple of its mean.
const SHORT_TAIL: f64 = 1.5;

/// The responses of the service at next to no load, without the time that the network takes.
#[derive(Clone, Debug)]
pub struct Baseline {
    population: Population,
    round_trip_ns: f64,
    source: String,
}

/// Which ratio of a response to that at next to no load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ratio {
    /// [`Ratio::Literal`] where the P99 of the idle service is at most one and a half times its mean, else
    /// [`Ratio::Inflation`]: an idle exponential service has P99/S = 4.6 already.
    #[default]
    Automatic,
    /// P_q(λ)/S, with S the mean at next to no load.
    Literal,
    /// P_q(λ)/P_q(floor), the same quantile at next to no load.
    Inflation,
}

impl Ratio {
    /// Name in reports: `automatic`, `literal`, `inflation`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Ratio::Automatic => "automatic",
            Ratio::Literal => "literal",
            Ratio::Inflation => "inflation",
        }
    }
}

impl Baseline {
    /// Of these responses, of which `round_trip` is the network's; `source` says where they are from.
    #[must_use]
    pub fn new(responses: Population, round_trip: Duration, source: impl Into<String>) -> Self {
        Baseline {
            population: responses,
            round_trip_ns: round_trip.as_nanos() as f64,
            source: source.into(),
        }
    }

    /// Where its responses are from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What the network takes, in nanoseconds.
    #[must_use]
    pub fn round_trip_ns(&self) -> f64 {
        self.round_trip_ns
    }

    /// S, the mean in nanoseconds; `None` where there are no responses, or the network took all the time.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        self.without_network(self.population.mean_ns()?)
    }

    /// The quantile `q` in nanoseconds; `None` likewise, and where it is not known but for a lower bound.
    #[must_use]
    pub fn quantile_ns(&self, q: Quantile) -> Option<f64> {
        self.without_network(self.population.quantile(q)?.exact()? as f64)
    }

    /// The coefficient of variation C_v of the services.
    #[must_use]
    pub fn cv(&self) -> Option<f64> {
        Some(self.population.exact.stddev_ns()? / self.mean_ns()?)
    }

    /// Which ratio is in use for `asked`: for [`Ratio::Automatic`] one of the others.
    #[must_use]
    pub fn in_use(&self, asked: Ratio) -> Ratio {
        let short = |p99: f64| self.mean_ns().is_some_and(|mean| p99 <= SHORT_TAIL * mean);
        match asked {
            Ratio::Automatic if self.quantile_ns(Quantile::P99).is_some_and(short) => {
                Ratio::Literal
            }
            Ratio::Automatic => Ratio::Inflation,
            named => named,
        }
    }

    /// What the quantile `q` is divided by, in nanoseconds.
    #[must_use]
    pub fn divisor_ns(&self, ratio: Ratio, q: Quantile) -> Option<f64> {
        match self.in_use(ratio) {
            Ratio::Literal => self.mean_ns(),
            Ratio::Inflation | Ratio::Automatic => self.quantile_ns(q),
        }
    }

    /// The ratio of a response of `ns` in the quantile `q`; the network leaves both sides.
    #[must_use]
    pub fn ratio_of(&self, ratio: Ratio, q: Quantile, ns: f64) -> Option<f64> {
        Some((ns - self.round_trip_ns) / self.divisor_ns(ratio, q)?)
    }

    fn without_network(&self, ns: f64) -> Option<f64> {
        let rest = ns - self.round_trip_ns;
        (rest > 0.0).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use openloop_measurer::Histogram;

    fn baseline(values: &[u64], round_trip_ms: u64) -> Baseline {
        let mut histogram = Histogram::new();
        values
            .iter()
            .for_each(|ms| histogram.record(ms * 1_000_000));
        Baseline::new(
            histogram.into(),
            Duration::from_millis(round_trip_ms),
            "a test",
        )
    }

    #[test]
    fn the_ratio_in_use_is_the_literal_one_of_short_tails_alone() {
        let constant = baseline(&[10; 100], 0);
        assert_eq!(constant.in_use(Ratio::Automatic), Ratio::Literal);
        let mut mixed = vec![1; 90];
        mixed.extend([20; 10]);
        let mixed = baseline(&mixed, 0);
        assert_eq!(mixed.in_use(Ratio::Automatic), Ratio::Inflation);
        assert_eq!(mixed.in_use(Ratio::Literal), Ratio::Literal);
        // S = 2.9 ms.
        let literal = mixed.ratio_of(Ratio::Literal, Quantile::P99, 29e6).unwrap();
        assert!((literal - 10.0).abs() < 1e-9, "{literal}");
        let inflation = mixed
            .ratio_of(Ratio::Automatic, Quantile::P99, 60e6)
            .unwrap();
        assert!((inflation - 3.0).abs() < 0.003, "{inflation}");
    }

    #[test]
    fn the_network_leaves_both_sides() {
        let far = baseline(&[12; 100], 10);
        let ratio = far.ratio_of(Ratio::Automatic, Quantile::P99, 16e6).unwrap();
        assert!((ratio - 3.0).abs() < 0.01, "{ratio}");
        assert_eq!(baseline(&[5; 10], 10).mean_ns(), None);
        assert_eq!(baseline(&[], 0).mean_ns(), None);
    }
}
