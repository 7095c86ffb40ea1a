//! How the figures of a plan follow from what was measured.

use super::{Figures, Input, Item, Missing, Quantity, Unit};
use crate::sizing::{ClientTimeout, Concurrency, TimeoutBasis, pool_size};
use crate::{CapacityError, check, utilisation};

/// The share of the time during which there may be too little room.
const TOO_LITTLE: f64 = 0.01;

/// Nodes, pools, memory and timeouts for a peak, each with its formula and what went into it.
///
/// ```
/// use openloop_capacity::Plan;
/// use openloop_capacity::plan::{Figures, Quantity};
///
/// // What a sweep of one node found, and the peak that is to come.
/// let plan = Plan::new(&Figures {
///     knee: Some(1400.0),
///     highest_rate: Some(2000.0),
///     service_p99: Some(0.040),
///     ..Figures::at_peak(10_000.0)
/// })?;
/// // By the knee; three quarters of the highest rate would be satisfied with 7.
/// assert_eq!(plan.value(Quantity::Nodes), Some(8.0));
/// assert_eq!(plan.value(Quantity::Pool), Some(400.0));
/// // Nobody said how long a request takes in the mean.
/// assert_eq!(plan.value(Quantity::UnderWay), None);
/// assert!(plan.to_string().contains("⌈λ_peak / λ_knee⌉: λ_peak = 10000/s, λ_knee = 1400/s"));
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Plan {
    /// What follows from what was measured.
    pub items: Vec<Item>,
    /// What does not, and what for want of.
    pub missing: Vec<Missing>,
}

impl Plan {
    /// What follows from `figures`.
    ///
    /// # Errors
    /// When a figure is NaN, infinite, negative or not in the range of 10⁻³⁰ to 10³⁰, when two contradict each other (a
    /// knee above the highest rate, a P99.9 below the P90), or when a count is too large for its type.
    pub fn new(figures: &Figures) -> Result<Self, CapacityError> {
        let mut plan = Plan {
            items: Vec::new(),
            missing: Vec::new(),
        };
        let peak = check::positive("the peak rate", figures.peak)?;
        let room = plan.under_way(figures, peak)?;
        plan.memory(figures, room)?;
        plan.nodes(figures, peak, room)?;
        plan.stretch(figures)?;
        plan.pool(figures, peak)?;
        plan.timeout(figures)?;
        plan.items.sort_by_key(|item| item.quantity);
        plan.missing.sort_by_key(|missing| missing.quantity);
        Ok(plan)
    }

    /// The figure of this quantity; `None` where it could not be told.
    #[must_use]
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        let item = self.items.iter().find(|item| item.quantity == quantity);
        item.map(|item| item.value)
    }

    pub(super) fn add(
        &mut self,
        quantity: Quantity,
        value: f64,
        formula: &str,
        inputs: &[Input],
        why: impl Into<String>,
    ) {
        self.items.push(Item {
            quantity,
            value,
            unit: quantity.unit(),
            formula: formula.to_owned(),
            inputs: inputs.to_vec(),
            why: why.into(),
        });
    }

    pub(super) fn lacks(&mut self, quantity: Quantity, needs: &str) {
        self.missing.push(Missing {
            quantity,
            needs: needs.to_owned(),
        });
    }

    /// How many are under way at once, 1 % of the time exceeded.
    fn under_way(&mut self, figures: &Figures, peak: f64) -> Result<Option<u64>, CapacityError> {
        let Some(response) = figures.mean_response else {
            self.lacks(
                Quantity::UnderWay,
                "W, the mean response under the load of the peak",
            );
            return Ok(None);
        };
        check::positive("the mean response", response)?;
        let number = Concurrency::new(peak, response)?;
        let (mean, room) = (number.mean(), number.room_for(TOO_LITTLE)?);
        let inputs = [rate("λ_peak", peak), time("W", response)];
        self.add(Quantity::UnderWay, mean, "λ_peak W", &inputs, "");
        let whole = check::whole("the mean number under way", mean)?;
        self.add(
            Quantity::MoreThanMean,
            number.exceeds(whole),
            "P(N > ⌈λ_peak W⌉), N Poisson",
            &inputs,
            "room for the mean is too little so often",
        );
        let allowed = Input {
            symbol: "p".to_owned(),
            value: TOO_LITTLE,
            unit: Unit::Share,
        };
        self.add(
            Quantity::Room,
            room as f64,
            "least n with P(N > n) ≤ p, N Poisson",
            &[inputs[0].clone(), inputs[1].clone(), allowed],
            "where nothing makes them wait for each other",
        );
        Ok(Some(room))
    }

    fn stretch(&mut self, figures: &Figures) -> Result<(), CapacityError> {
        let (Some(floor), Some(response)) = (figures.floor, figures.mean_response) else {
            return Ok(());
        };
        check::positive("the service floor", floor)?;
        let trip = check::not_negative("the round trip", figures.round_trip.unwrap_or(0.0))?;
        // Both are measured, and may differ by chance where nothing waits.
        let share = utilisation::from_response((response - trip).max(floor), floor)?;
        let mut inputs = vec![time("S", floor), time("W", response)];
        let formula = match trip > 0.0 {
            true => {
                inputs.push(time("RTT", trip));
                "1 − S/(W − RTT)"
            }
            false => "1 − S/W",
        };
        self.add(
            Quantity::UtilisationByStretch,
            share,
            formula,
            &inputs,
            "of one exponential server; a pool looks idle through this glass",
        );
        Ok(())
    }

    fn pool(&mut self, figures: &Figures, peak: f64) -> Result<(), CapacityError> {
        let Some(p99) = figures.service_p99 else {
            self.lacks(
                Quantity::Pool,
                "the P99 of the service, from check-out to return",
            );
            return Ok(());
        };
        let inputs = |peak| [rate("λ_peak", peak), time("W_P99", p99)];
        let why =
            "of the service alone: with the wait for the pool in it, its own queue would size it";
        self.add(
            Quantity::Pool,
            pool_size(peak, p99)? as f64,
            "⌈λ_peak W_P99⌉",
            &inputs(peak),
            why,
        );
        if let Some(nodes) = self.value(Quantity::Nodes) {
            let each = peak / nodes;
            let size = pool_size(each, p99)? as f64;
            self.add(
                Quantity::PoolPerNode,
                size,
                "⌈λ_peak W_P99⌉",
                &inputs(each),
                "its share of the peak",
            );
        }
        Ok(())
    }

    fn timeout(&mut self, figures: &Figures) -> Result<(), CapacityError> {
        let Some(p90) = figures.service_p90 else {
            self.lacks(Quantity::Timeout, "the P90 of the service");
            return Ok(());
        };
        let timeout = ClientTimeout::new(p90, figures.service_p99_9, figures.retention)?;
        let mut inputs = vec![time("P90", p90)];
        inputs.extend(figures.service_p99_9.map(|p99_9| time("P99.9", p99_9)));
        inputs.extend(figures.retention.map(|kept| time("T", kept)));
        let (formula, why) = match timeout.basis() {
            TimeoutBasis::ThreeTimesP90 if figures.service_p99_9.is_some() => (
                "3 P90",
                "not below P99.9: the tail is no heavier than an exponential one",
            ),
            TimeoutBasis::ThreeTimesP90 => (
                "3 P90",
                "P99.9 is not known; of an exponential tail this is it",
            ),
            TimeoutBasis::P99_9 => (
                "P99.9",
                "above 3 P90: the tail is heavier than an exponential one",
            ),
            TimeoutBasis::Retention => (
                "T",
                "what waits longer is dropped, so waiting is in vain; some healthy requests end here",
            ),
        };
        let mut why = why.to_owned();
        if figures.retention.is_none() {
            why.push_str("; keep it below the server's queue retention");
        }
        self.add(Quantity::Timeout, timeout.seconds(), formula, &inputs, why);
        Ok(())
    }
}

pub(super) fn rate(symbol: &str, value: f64) -> Input {
    Input {
        symbol: symbol.to_owned(),
        value,
        unit: Unit::PerSecond,
    }
}

fn time(symbol: &str, value: f64) -> Input {
    Input {
        symbol: symbol.to_owned(),
        value,
        unit: Unit::Seconds,
    }
}

pub(super) fn count(symbol: &str, value: f64) -> Input {
    Input {
        symbol: symbol.to_owned(),
        value,
        unit: Unit::Count,
    }
}
