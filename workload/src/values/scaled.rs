//! The same law in another unit, or of larger things.

use super::{
    Clamped, Empirical, Exponential, Fixed, Gamma, HyperExponential, LogNormal, Pareto, Sequence,
    Uniform, Values, ValuesError,
};

impl Values {
    /// Every value so many times as large: the mean is multiplied by `factor`, bounds are too, and C_v stays.
    ///
    /// The same request has the same place in the law, so that its value is the one that it had, times `factor`, but for
    /// rounding.
    ///
    /// ```
    /// use openloop_workload::Values;
    ///
    /// let tokens = "lognormal:mean=500,cv=1,max=4096".parse::<Values>()?;
    /// let half = tokens.scaled(0.5)?;
    /// assert!((half.mean() / tokens.mean() - 0.5).abs() < 1e-12);
    /// assert!((half.value(7, 41) / tokens.value(7, 41) - 0.5).abs() < 1e-12);
    /// # Ok::<(), openloop_workload::ValuesError>(())
    /// ```
    ///
    /// # Errors
    /// When a parameter of the law is then out of its range, as with a factor that is not above 0 for all but fixed
    /// values.
    pub fn scaled(&self, factor: f64) -> Result<Self, ValuesError> {
        let (mean, cv) = (self.mean() * factor, self.cv());
        Ok(match self {
            Values::Fixed(_) => Values::Fixed(Fixed::new(mean)?),
            Values::Uniform(law) => {
                Values::Uniform(Uniform::new(law.lo() * factor, law.hi() * factor)?)
            }
            Values::Exponential(_) => Values::Exponential(Exponential::new(mean)?),
            Values::LogNormal(_) => Values::LogNormal(LogNormal::new(mean, cv)?),
            Values::Gamma(_) => Values::Gamma(Gamma::new(mean, cv)?),
            Values::Pareto(law) => Values::Pareto(Pareto::new(
                law.shape(),
                law.lo() * factor,
                law.hi() * factor,
            )?),
            Values::HyperExponential(_) => {
                Values::HyperExponential(HyperExponential::new(mean, cv)?)
            }
            Values::Empirical(law) => {
                let values = law.counts().map(|(value, count)| (value * factor, count));
                Values::Empirical(Empirical::with_counts(values)?)
            }
            Values::Sequence(law) => {
                let values = law.values().iter().map(|value| value * factor);
                Values::Sequence(Sequence::new(values)?)
            }
            Values::Clamped(law) => Values::Clamped(Clamped::new(
                law.law().scaled(factor)?,
                law.lo() * factor,
                law.hi() * factor,
            )?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_keeps_its_shape() {
        for text in [
            "fixed:200",
            "uniform:100:300",
            "exponential:200",
            "lognormal:200:1.5",
            "lognormal:p50=600,p99=4000,min=1,max=8192",
            "gamma:200:0.5",
            "pareto:shape=1.1,lo=100,hi=1e6",
            "hyperexponential:200:4",
            "empirical:100x3,250",
            "sequence:100,250,100",
        ] {
            let law: Values = text.parse().unwrap();
            let scaled = law.scaled(0.6).unwrap();
            let near = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() <= 1e-9 * expected,
                    "{text}: {found}, not {expected}"
                );
            };
            near(scaled.mean(), 0.6 * law.mean());
            near(1.0 + scaled.cv(), 1.0 + law.cv());
            for q in [0.1, 0.5, 0.99] {
                near(scaled.quantile(q), 0.6 * law.quantile(q));
            }
            for seq in 0..100 {
                near(scaled.value(7, seq), 0.6 * law.value(7, seq));
            }
            // What is written is read as the same.
            let read: Values = scaled.to_string().parse().unwrap();
            near(read.mean(), scaled.mean());
        }
        let law: Values = "exponential:200".parse().unwrap();
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(law.scaled(factor).is_err(), "{factor}");
        }
    }
}
