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
    /// How long requests take comes from the highest rate up to the knee at which the service kept up, since that is what
    /// nodes show at the peak if there are enough of them. What was not found, but is at least so much, goes in as that
    /// much, and the plan says so: it has rather too many nodes then.
    ///
    /// # Errors
    /// When the peak is 0.
    pub fn plan(&self, peak: Rate) -> Result<Plan, CapacityError> {
        let (knee, max) = (self.knee(), self.max());
        // A knee is a rate that was asked for; a few arrivals less may have come.
        let highest = max.rate().map(|max| max.max(knee.rate().unwrap_or(0.0)));
        let up_to = knee.rate().unwrap_or(f64::INFINITY);
        let point = self
            .stable()
            .rev()
            .find(|point| point.per_second() <= up_to);
        let service = point.map(|point| point.series(&Metric::Service));
        let quantile = |q: Quantile| {
            let exact = service.as_ref()?.quantile(q)?.exact()?;
            Some(exact as f64 / 1e9)
        };
        let served = point.map(|point| point.series(&Metric::ResponseOk));
        let floor = self.floor.as_ref();
        let mut plan = Plan::new(&Figures {
            knee: knee.rate(),
            highest_rate: highest,
            floor: floor
                .and_then(|floor| floor.s_ns(None, &Metric::Response))
                .map(|ns| ns / 1e9),
            mean_response: served
                .and_then(|served| served.whole().mean_ns())
                .map(|ns| ns / 1e9),
            service_p90: quantile(Quantile::P90),
            service_p99: quantile(Quantile::P99),
            service_p99_9: quantile(Quantile::P99_9),
            ..Figures::at_peak(peak.as_per_second())
        })?;
        for (symbol, is_found) in [("λ_knee", knee.is_found()), ("λ_max", max.is_found())] {
            let from_it = plan
                .items
                .iter_mut()
                .filter(|item| !is_found && item.inputs.iter().any(|input| input.symbol == symbol));
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
