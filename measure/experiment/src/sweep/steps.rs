//! The runs of a sweep, one after the other.

use super::Point;
use crate::drive::DriveError;
use crate::{Lifecycle, Plan, PlanBuilder, ProtocolError, Run};
use openloop_sched::Rate;
use openloop_workload::{named, numbered};
use std::time::Duration;

/// Name of this step of the protocol.
const STEP: &str = "sweep";

/// The steps made so far.
pub(super) struct Steps<'a> {
    base: &'a PlanBuilder,
    runs: usize,
    /// The share of what was offered that was served at the first rate.
    served_before: Option<f64>,
    /// Whether a run was stopped early, and so the sweep.
    pub(super) interrupted: bool,
}

impl<'a> Steps<'a> {
    pub(super) fn new(base: &'a PlanBuilder) -> Self {
        Steps {
            base,
            runs: 0,
            served_before: None,
            interrupted: false,
        }
    }

    /// A point at a rate, without a run.
    pub(super) fn point(&self, rate: f64) -> Result<Point, ProtocolError> {
        let rate =
            Rate::per_second(rate).map_err(|error| ProtocolError::Options(error.to_string()))?;
        Ok(Point::new(rate, self.served_before.unwrap_or(1.0)))
    }

    /// The next run of a point, with a seed of its own.
    pub(super) async fn make(
        &mut self,
        point: &Point,
        steady: Duration,
        trial: &mut impl AsyncFnMut(&Plan) -> Result<Run, DriveError>,
    ) -> Result<Run, ProtocolError> {
        self.runs += 1;
        let seed = numbered(named(self.base.seeded(), STEP), self.runs as u64);
        let lifecycle = Lifecycle {
            steady,
            ..self.base.phases()
        };
        let plan = self
            .base
            .clone()
            .at(point.asked())
            .lifecycle(lifecycle)
            .seed(seed)
            .build()
            .map_err(|source| ProtocolError::Plan { step: STEP, source })?;
        let run = trial(&plan).await.map_err(|source| ProtocolError::Drive {
            step: STEP,
            run: self.runs,
            source,
        })?;
        self.interrupted |= run.interrupted().is_some();
        if self.served_before.is_none() && run.validity().is_valid() {
            let offered = run.offered_per_second().filter(|offered| *offered > 0.0);
            self.served_before = run
                .achieved_per_second()
                .zip(offered)
                .map(|(achieved, offered)| (achieved / offered).min(1.0));
        }
        Ok(run)
    }
}
