//! From a statement to a plan.

use super::{OnFailure, OnLimit, ProblemError, ProblemStatement, RunsFrom};
use crate::simulate::Station;
use crate::{InFlight, Lifecycle, Plan, PlanBuilder, TimeoutFrom};
use openloop_sched::Rate;
use openloop_workload::Values;
use openloop_workload::sessions::Sessions;
use openloop_workload::values::{Exponential, Fixed};

/// The mean service time of a rehearsal where nothing is said of it.
const REHEARSED: f64 = 0.001;

impl ProblemStatement {
    /// The plan of *one run* of the experiment that the statement asks for: its load, limits and lifecycle. Of a sweep it is
    /// the run at the first of its rates or, where it is to find one, at `load.rate`; of an overload the one before it.
    ///
    /// What makes an experiment of it is not in the plan, but in the fields of the statement: `slo`, `floor`,
    /// `sweep`, `replicas`, `resilience`, which go to [`Slo`](crate::Slo), [`FloorTrials`](crate::FloorTrials),
    /// [`Sweep`](crate::sweep::Sweep), [`Replication`](crate::Replication) and
    /// [`Overload`](crate::resilience::Overload); `loadgen --problem` does all of that. The requests themselves
    /// (`workload`) are the caller's.
    ///
    /// # Errors
    /// When no load is said, or sessions cannot be; the rest is checked by [`PlanBuilder::build`].
    pub fn plan(&self) -> Result<PlanBuilder, ProblemError> {
        let load = &self.load;
        let mut plan = match (self.rate(), &load.profile, load.users) {
            (_, Some(profile), _) => Plan::profile((**profile).clone()),
            (_, _, Some(users)) => Plan::closed(users),
            (Some(rate), None, None) => Plan::open(rate),
            (None, None, None) => return Err(ProblemError::NoLoad),
        };
        // Of a profile all is measured, and the plan says so where phases are stated beside it.
        if load.profile.is_none() || self.lifecycle.is_said() {
            plan = plan.lifecycle(self.lifecycle.or(Lifecycle::default()));
        }
        if let Some(think) = &load.think {
            plan = plan.think(**think);
        }
        if let Some(arrivals) = &load.arrivals {
            plan = plan.arrivals(**arrivals);
        }
        if let Some(bursts) = &load.bursts {
            plan = plan.bursts(**bursts);
        }
        if let Some(sessions) = self.sessions()? {
            plan = plan.sessions(sessions);
            plan = plan.on_failure(match load.on_failure {
                None | Some(OnFailure::End) => crate::OnFailure::End,
                Some(OnFailure::Continue) => crate::OnFailure::Continue,
            });
        }
        if let Some(limit) = load.max_in_flight {
            plan = plan.in_flight(match load.on_limit {
                None | Some(OnLimit::Queue) => InFlight::Queue(limit),
                Some(OnLimit::Shed) => InFlight::Shed(limit),
            });
        }
        if let Some(timeout) = &load.timeout {
            plan = plan.timeout(**timeout);
        }
        if let Some(from) = load.timeout_from {
            plan = plan.timeout_from(match from {
                RunsFrom::Intended => TimeoutFrom::Intended,
                RunsFrom::Dispatch => TimeoutFrom::Dispatched,
            });
        }
        if let Some(drain) = &self.lifecycle.drain {
            plan = plan.drain(**drain);
        }
        if let Some(seed) = load.seed {
            plan = plan.seed(seed);
        }
        Ok(plan)
    }

    /// The rate that is said: of a sweep, the first.
    fn rate(&self) -> Option<Rate> {
        let swept = self.sweep.iter().flat_map(|sweep| &sweep.rates);
        let mut rates = self.load.rate.iter().chain(swept);
        rates.next().map(|rate| **rate)
    }

    /// What arrives, if those are sessions.
    fn sessions(&self) -> Result<Option<Sessions>, ProblemError> {
        let Some(steps) = &self.load.sessions else {
            return Ok(None);
        };
        let of = |error: &dyn ToString| ProblemError::Sessions(error.to_string());
        let think = match &self.load.session_think {
            Some(think) => think.clone(),
            None => Values::Fixed(Fixed::new(0.0).map_err(|error| of(&error))?),
        };
        let sessions = Sessions::new(steps.clone(), think).map_err(|error| of(&error))?;
        Ok(Some(sessions))
    }

    /// The service of a rehearsal: as stated or, where nothing is, one server with exponential service times of the
    /// expected floor in the mean or, where that is not stated, of 1 ms.
    ///
    /// # Errors
    /// When it has no server, or the law cannot be.
    pub fn station(&self) -> Result<Station, ProblemError> {
        let stated = &self.rehearsal;
        let service = match &stated.service {
            Some(service) => service.clone(),
            None => {
                let mean = self.floor.expected.as_ref();
                let mean = mean.map_or(REHEARSED, |mean| mean.as_secs_f64());
                let law = Exponential::new(mean).map_err(|_| ProblemError::Range {
                    field: "floor.expected",
                    value: mean,
                    allowed: "above zero",
                })?;
                Values::Exponential(law)
            }
        };
        let station = Station::new(stated.servers.unwrap_or(1), service)?;
        Ok(match stated.waiting {
            Some(places) => station.waiting(places),
            None => station,
        })
    }
}
