//! Why a question about capacity has no answer.

/// Why a question about capacity has no answer.
///
/// What a model is given is checked when it is built; after that only a quantile can be refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CapacityError {
    /// A parameter that is NaN, infinite or out of its range.
    #[error("{name} is {value}: give {expected}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its range, and what to write where the range is the wrong one.
        expected: &'static str,
    },
    /// More work arrives than the servers can do, and nothing bounds the queue.
    #[error(
        "an offered load of {load} (arrival rate times mean service) is too much for {servers} servers: the queue \
         grows for ever. Lower the rate, shorten the service, give at least {needed} servers, or bound the queue and turn the rest away (M/M/c/K)"
    )]
    Saturated {
        /// a = λ S, the number of servers that the work would keep busy.
        load: f64,
        /// c, the number of servers.
        servers: u32,
        /// The least number of servers that can keep up.
        needed: f64,
    },
    /// Two parameters that contradict each other.
    #[error(
        "{larger} is {larger_value}, which must not be below {smaller}, {smaller_value}: {remedy}"
    )]
    Contradiction {
        /// The parameter that has to be the larger one.
        larger: &'static str,
        /// Its value.
        larger_value: f64,
        /// The parameter that has to be the smaller one.
        smaller: &'static str,
        /// Its value.
        smaller_value: f64,
        /// What to check.
        remedy: &'static str,
    },
    /// A quantile that no formula gives for this model.
    #[error("no formula gives the quantiles of the response of {model}: {remedy}")]
    NoClosedForm {
        /// The model.
        model: &'static str,
        /// What to use in its place.
        remedy: &'static str,
    },
    /// A number that does not fit where the answer is kept.
    #[error("{name} would be {value}, more than can be counted: {remedy}")]
    TooLarge {
        /// What was to be counted.
        name: &'static str,
        /// About how much it would be.
        value: f64,
        /// What to check.
        remedy: &'static str,
    },
    /// A fit that its points cannot carry.
    #[error(
        "no {curve} is determined by {points} points at {loads} different loads: give {needed}"
    )]
    Points {
        /// What was to be fitted.
        curve: &'static str,
        /// How many points there are.
        points: usize,
        /// How many different loads they have.
        loads: usize,
        /// How many it takes.
        needed: &'static str,
    },
}
