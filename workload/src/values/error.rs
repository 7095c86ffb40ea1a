//! Why values cannot be drawn.

use crate::number::Real;
use std::path::PathBuf;

/// Why values cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValuesError {
    /// No such law.
    #[error(
        "\"{0}\" does not name values: write fixed, uniform, exponential, lognormal, gamma, pareto, hyperexponential, \
         empirical or sequence and its parameters, such as fixed:200 or lognormal:mean=200,cv=1.5"
    )]
    Unknown(String),
    /// What stands for a number is none.
    #[error("{name} is \"{text}\": give a number, such as 200 or 1.5")]
    NotANumber {
        /// The parameter.
        name: String,
        /// What was written.
        text: String,
    },
    /// The law needs a parameter that was not given.
    #[error("{law} needs {parameter}: write {usage}")]
    Missing {
        /// The law.
        law: &'static str,
        /// The parameter.
        parameter: String,
        /// How the law is written.
        usage: &'static str,
    },
    /// A parameter that the law does not have, or that was given twice, or one too many.
    #[error("{law} has no use for {parameter}: write {usage}")]
    Unexpected {
        /// The law.
        law: &'static str,
        /// The parameter.
        parameter: String,
        /// How the law is written.
        usage: &'static str,
    },
    /// A parameter out of its range.
    #[error("{name} is {value}: give {expected}", value = Real(*.value))]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its range, and what to write where the range is the wrong one.
        expected: &'static str,
    },
    /// The lower bound is not below the upper one.
    #[error(
        "the bounds {lo} and {hi} hold nothing between them: give a lower one below the upper one, or fixed",
        lo = Real(*.lo), hi = Real(*.hi)
    )]
    Bounds {
        /// The lower bound.
        lo: f64,
        /// The upper bound.
        hi: f64,
    },
    /// Two quantiles between which there is no log-normal law.
    #[error(
        "a quantile {lower_q} of {lower} and a quantile {upper_q} of {upper} are of no log-normal law: give two that \
         rise together, such as p50=180,p99=900, with a coefficient of variation from 1e-6 to 1000"
    )]
    Quantiles {
        /// The first probability.
        lower_q: f64,
        /// The value there.
        lower: f64,
        /// The second probability.
        upper_q: f64,
        /// The value there.
        upper: f64,
    },
    /// An empirical law of no value.
    #[error("of no values none can be drawn: give at least one with a count of at least 1")]
    Empty,
    /// An empirical law with more or fewer counts than values.
    #[error("{values} values have {counts} counts: give one for each, or none at all")]
    Counts {
        /// How many values.
        values: usize,
        /// How many counts.
        counts: usize,
    },
    /// The counts of an empirical law add up to 2⁶⁴ or more.
    #[error(
        "the counts add up to more than 18446744073709551615: divide them all by the same number"
    )]
    TooMany,
    /// The values are those of a trace, which parsing does not have.
    #[error(
        "trace:{0} is a column of a trace, and there is no trace of which each request has a row: replay one, without \
         sessions, or write the values themselves, such as sequence:100,250,100"
    )]
    InTrace(String),
    /// The values are in a file, which parsing does not read.
    #[error(
        "the values are in the file {}, which is not read here: write the values themselves, such as \
         empirical:100x3,250x1, or, in a program, load it with Values::load", .0.display()
    )]
    InFile(PathBuf),
}
