//! Which arrival process, by name.

use std::fmt;
use std::str::FromStr;

use crate::process::{
    AnyProcess, CoefficientOfVariation, CoefficientOfVariationError, Constant, Gamma, Poisson,
};

/// The arrival process of a schedule, by name: what a user chooses.
///
/// ```
/// use openloop_sched::Arrivals;
///
/// assert_eq!("poisson".parse::<Arrivals>()?, Arrivals::Poisson);
/// assert_eq!("gamma:2.5".parse::<Arrivals>()?, Arrivals::gamma(2.5)?);
/// assert_eq!(Arrivals::gamma(2.5)?.to_string(), "gamma:2.5");
/// assert!("gamma:-1".parse::<Arrivals>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Arrivals {
    /// Evenly spaced: [`Constant`].
    Constant,
    /// Independent, as of many users: [`Poisson`].
    #[default]
    Poisson,
    /// Gaps with a given coefficient of variation: [`Gamma`].
    Gamma {
        /// Standard deviation of a gap over its mean.
        cv: CoefficientOfVariation,
    },
}

impl Arrivals {
    /// Gamma-distributed gaps with the coefficient of variation `cv`.
    ///
    /// # Errors
    /// When `cv` is not a number from 10⁻⁶ to 1000.
    pub fn gamma(cv: f64) -> Result<Self, CoefficientOfVariationError> {
        CoefficientOfVariation::new(cv).map(|cv| Arrivals::Gamma { cv })
    }

    pub(crate) fn process(self, seed: u64) -> AnyProcess {
        match self {
            Arrivals::Constant => AnyProcess::Constant(Constant::new()),
            Arrivals::Poisson => AnyProcess::Poisson(Poisson::new(seed)),
            Arrivals::Gamma { cv } => AnyProcess::Gamma(Gamma::new(cv, seed)),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrivals::Constant => f.write_str("constant"),
            Arrivals::Poisson => f.write_str("poisson"),
            Arrivals::Gamma { cv } => write!(f, "gamma:{cv}"),
        }
    }
}

impl FromStr for Arrivals {
    type Err = ArrivalsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || ArrivalsError::Unknown(text.to_owned());
        match text.trim().split_once(':') {
            None if text.trim() == "constant" => Ok(Arrivals::Constant),
            None if text.trim() == "poisson" => Ok(Arrivals::Poisson),
            Some(("gamma", cv)) => Ok(Arrivals::gamma(cv.trim().parse().map_err(|_| unknown())?)?),
            _ => Err(unknown()),
        }
    }
}

/// Why a text does not name an arrival process.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrivalsError {
    /// No such process, or its parameter is not a number.
    #[error(
        "\"{0}\" is not an arrival process: write constant, poisson or gamma:CV, such as gamma:2"
    )]
    Unknown(String),
    /// The parameter is out of range.
    #[error(transparent)]
    CoefficientOfVariation(#[from] CoefficientOfVariationError),
}
