//! From a curve of one node and a peak that is to come to a plan.

use super::curve::Curve;
use crate::series::Metric;
use openloop_capacity::plan::Figures;
use openloop_capacity::{CapacityError, Plan};
use openloop_measurer::Quantile;
use openloop_sched::Rate;

impl Curve {
    /// What follows from the curve for a peak: nodes by both rules, pools, timeouts, each with its formula.
    ///
    /// What was not found, but is at least so much, goes in as that much, and the plan says so: it has rather too many
    /// nodes then. What a curve does not show, the service's retention and the memory of a language model, is told by
    /// [`plan_for`](Curve::plan_for).
    ///
    /// # Errors
    /// When the peak is 0.
    pub fn plan(&self, peak: Rate) -> Result<Plan, CapacityError> {
        self.plan_for(&self.figures(peak))
    }

    /// What goes into a plan for a peak.
    ///
    /// How long requests take comes from the highest rate up to the knee at which the service kept up, since that is what
    /// nodes show at the peak if there are enough of them. The P99 that a pool is sized by is that of the exchange: with
    /// the wait for a connection in it, a pool would be sized by its own queue.
    #[must_use]
    pub fn figures(&self, peak: Rate) -> Figures {
        let (knee, max) = (self.knee(), self.max());
        // A knee is a rate that was asked for; a few arrivals less may have come.
        let highest = max.rate().map(|max| max.max(knee.rate().unwrap_or(0.0)));
        let up_to = knee.rate().unwrap_or(f64::INFINITY);
        let point = self
            .stable()
            .rev()
            .find(|point| point.per_second() <= up_to);
        let quantile = |metric: Metric, q: Quantile| {
            let exact = point?.series(&metric).quantile(q)?.exact()?;
            Some(exact as f64 / 1e9)
        };
        let served = point.map(|point| point.series(&Metric::ResponseOk));
        let seconds = |ns: f64| ns / 1e9;
        let floor = self.floor.as_ref();
        Figures {
            knee: knee.rate(),
            highest_rate: highest,
            floor: floor
                .and_then(|floor| floor.s_ns(None, &Metric::Response))
                .filter(|ns| *ns > 0.0)
                .map(seconds),
            round_trip: floor.map(|floor| floor.rtt_ns(&Metric::Response) / 1e9),
            mean_response: served
                .and_then(|served| served.whole().mean_ns())
                .map(seconds),
            service_p90: quantile(Metric::Service, Quantile::P90),
            service_p99: quantile(Metric::Exchange, Quantile::P99),
            service_p99_9: quantile(Metric::Service, Quantile::P99_9),
            ..Figures::at_peak(peak.as_per_second())
        }
    }

    /// The plan of these [figures](Curve::figures), with what the curve does not show filled in.
    ///
    /// # Errors
    /// When a figure is none, or two contradict each other.
    ///
    /// ```
    /// # use openloop_experiment::simulate::{Station, simulate};
    /// # use openloop_experiment::sweep::Sweep;
    /// # use openloop_experiment::{Floor, Lifecycle, Plan};
    /// # use openloop_sched::Rate;
    /// use openloop_capacity::plan::{Figures, Quantity};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let service = Station::new(4, "exponential:0.020".parse()?)?;
    /// # let base = Plan::open(Rate::per_second(1.0)?).lifecycle(Lifecycle::quick());
    /// # let mut trial = async |plan: &Plan| simulate(plan, service.clone());
    /// # let floor = Floor::measure(base.clone(), &mut trial).await?;
    /// # let rates = [40.0, 80.0, 120.0].map(|rate| Rate::per_second(rate).unwrap());
    /// # let curve = Sweep::rates(rates).floor(floor).run(&base, &mut trial).await?;
    /// // The service drops what has waited for 50 ms.
    /// let figures = Figures { retention: Some(0.050), ..curve.figures(Rate::per_second(1000.0)?) };
    /// assert_eq!(curve.plan_for(&figures)?.value(Quantity::Timeout), Some(0.050));
    /// # Ok(())
    /// # }
    /// ```
    pub fn plan_for(&self, figures: &Figures) -> Result<Plan, CapacityError> {
        let mut plan = Plan::new(figures)?;
        let found = [("λ_knee", self.knee()), ("λ_max", self.max())];
        for (symbol, capacity) in found {
            let from_it = plan.items.iter_mut().filter(|item| {
                !capacity.is_found() && item.inputs.iter().any(|input| input.symbol == symbol)
            });
            for item in from_it {
                if !item.why.is_empty() {
                    item.why.push_str("; ");
                }
                let told = format!("{symbol} was not found, it is at least that");
                item.why.push_str(&told);
            }
        }
        Ok(plan)
    }
}
