//! Two builds by turns.

use super::{Comparison, Figure, Gate, comparison};
use crate::drive::DriveError;
use crate::plan::PlanBuilder;
use crate::{Plan, ProtocolError, Run};

/// Two builds, run by turns in the order A, B, B, A under the same arrivals.
///
/// What drifts evenly over the four runs falls on both alike, and so does the chance in the arrivals: the windows of
/// the two are compared in pairs.
#[derive(Clone, Debug)]
pub struct Abba {
    a: Vec<Run>,
    b: Vec<Run>,
    comparison: Comparison,
}

impl Gate {
    /// Runs two builds by turns, A, B, B, A, with one seed, and compares them: A is the base, B the build in question.
    ///
    /// # Errors
    /// When the plan cannot be made, a run does not come about, or there is nothing to compare.
    pub async fn abba(
        self,
        base: PlanBuilder,
        mut trial_a: impl AsyncFnMut(&Plan) -> Result<Run, DriveError>,
        mut trial_b: impl AsyncFnMut(&Plan) -> Result<Run, DriveError>,
    ) -> Result<Abba, ProtocolError> {
        let step = "comparison";
        let plan = base.build();
        let plan = plan.map_err(|source| ProtocolError::Plan { step, source })?;
        let failed = |run| move |source| ProtocolError::Drive { step, run, source };
        let first_a = trial_a(&plan).await.map_err(failed(1))?;
        let first_b = trial_b(&plan).await.map_err(failed(2))?;
        let second_b = trial_b(&plan).await.map_err(failed(3))?;
        let second_a = trial_a(&plan).await.map_err(failed(4))?;
        self.turns(vec![first_a, second_a], vec![first_b, second_b])
            .map_err(|why| ProtocolError::NothingServed { step, why })
    }

    /// Compares runs that were made by turns elsewhere, each of `a` beside the one of `b` in the same place, all with
    /// the same seed.
    fn turns(&self, a: Vec<Run>, b: Vec<Run>) -> Result<Abba, String> {
        let figure = |runs: &[Run]| {
            let figure = Figure::of(runs, &self.metric, self.kind.as_deref(), self.quantile);
            figure.map_err(|error| error.to_string())
        };
        let mut differences = Vec::new();
        for (a, b) in a.iter().zip(&b) {
            let of_turn = |run: &Run| figure(std::slice::from_ref(run));
            let (_, a) = of_turn(a)?.logs();
            let (_, b) = of_turn(b)?.logs();
            differences.resize(a.len(), 0.0);
            for (sum, (a, b)) in differences.iter_mut().zip(a.iter().zip(&b)) {
                *sum += b - a;
            }
        }
        let turns = a.len() as f64;
        differences.iter_mut().for_each(|sum| *sum /= turns);
        let (base, new) = (figure(&a)?, figure(&b)?);
        let comparison =
            comparison::by_pairs(self.statistic(), &base, &new, &differences, self.tolerance)
                .with_faults([("A", &a), ("B", &b)]);
        Ok(Abba { a, b, comparison })
    }
}

impl Abba {
    /// The runs of the base, in order.
    #[must_use]
    pub fn a(&self) -> &[Run] {
        &self.a
    }

    /// The runs of the build in question.
    #[must_use]
    pub fn b(&self) -> &[Run] {
        &self.b
    }

    /// What they say.
    #[must_use]
    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }
}
