//! What a mix asks of a server, before the run.

use super::Mix;

/// The part of one kind in a mix.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Share<'a> {
    /// The kind.
    pub name: &'a str,
    /// Of all requests, pᵢ, from 0 to 1.
    pub of_requests: f64,
    /// Of all work, pᵢ mᵢ/m, from 0 to 1; `None` where a kind's demand is unknown, or there is no work at all.
    pub of_work: Option<f64>,
}

/// The work of a request of a mix, whichever its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Demand {
    /// m, in the unit of the kinds' demands.
    pub mean: f64,
    /// C_v, the standard deviation over the mean; 0 where the mean is 0.
    pub cv: f64,
}

impl Demand {
    /// (1 + C_v²)/2: how many times as long requests wait for one server as they would if the work were all the same
    /// and the factor ½.
    ///
    /// Pollaczek and Khinchine: with one server and Poisson arrivals, W_q = ρ/(1 − ρ) · m · (1 + C_v²)/2.
    #[must_use]
    pub fn pollaczek_khinchine(&self) -> f64 {
        0.5 * (1.0 + self.cv * self.cv)
    }
}

impl<T> Mix<T> {
    /// Each kind's share of the requests and of the work, in the order of the kinds.
    #[must_use]
    pub fn shares(&self) -> Vec<Share<'_>> {
        let mean = self
            .demand()
            .map(|demand| demand.mean)
            .filter(|&mean| mean > 0.0);
        let of_work = |share: f64, demand: Option<&crate::Values>| match demand {
            // What never comes brings nothing, known or not.
            _ if share == 0.0 => mean.map(|_| 0.0),
            demand => Some(share * demand?.mean() / mean?),
        };
        self.weighted()
            .map(|(share, kind)| Share {
                name: kind.name(),
                of_requests: share,
                of_work: of_work(share, kind.demand()),
            })
            .collect()
    }

    /// Mean and C_v of the work of a request; `None` where a kind that comes at all has no demand.
    ///
    /// | symbol | meaning |
    /// | --- | --- |
    /// | pᵢ, mᵢ, cᵢ | share of requests, mean and C_v of kind i |
    /// | m = Σ pᵢ mᵢ | mean |
    /// | Σ pᵢ (mᵢ cᵢ)² + Σ pᵢ (mᵢ − m)² | variance: within the kinds, and between them (law of total variance) |
    ///
    /// ```
    /// use openloop_workload::{Mix, mix::Kind};
    ///
    /// // Nine in ten take 1 ms, one in ten takes 20 ms, always.
    /// let mix = Mix::new([
    ///     Kind::new("get", 9.0, ()).with_demand("fixed:1".parse()?),
    ///     Kind::new("report", 1.0, ()).with_demand("fixed:20".parse()?),
    /// ])?;
    /// let demand = mix.demand().ok_or("every kind has a demand")?;
    /// // m = 0.9·1 + 0.1·20; variance = 0.9·1.9² + 0.1·17.1² = 32.49 = 5.7².
    /// assert!((demand.mean - 2.9).abs() < 1e-12);
    /// assert!((demand.cv - 5.7 / 2.9).abs() < 1e-12);
    /// // The wait is 4.9 times that of an even load: (1 + 3.8633)/2 against ½.
    /// assert!((demand.pollaczek_khinchine() - 2.4316).abs() < 1e-4);
    /// // And a tenth of the requests is two thirds of the work.
    /// assert!((mix.shares()[1].of_work.ok_or("known")? - 2.0 / 2.9).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn demand(&self) -> Option<Demand> {
        let mut parts = Vec::new();
        for (share, kind) in self.weighted().filter(|(share, _)| *share > 0.0) {
            let demand = kind.demand()?;
            parts.push((share, demand.mean(), demand.cv()));
        }
        let mean: f64 = parts.iter().map(|(share, mean, _)| share * mean).sum();
        let variance: f64 = parts
            .iter()
            .map(|&(share, of_kind, cv)| {
                let (within, between) = (of_kind * cv, of_kind - mean);
                share * (within * within + between * between)
            })
            .sum();
        let cv = if mean == 0.0 {
            0.0
        } else {
            variance.sqrt() / mean
        };
        Some(Demand { mean, cv })
    }
}
