//! How far a fitted number, and a fit, are to be trusted.

use std::fmt;

/// An interval that holds a parameter with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Interval {
    /// Its lower end.
    pub lower: f64,
    /// Its upper end; infinite where the points do not bound it.
    pub upper: f64,
}

impl Interval {
    /// Whether `value` lies in it, its ends included.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        (self.lower..=self.upper).contains(&value)
    }
}

/// Whether a curve describes its points, in a word.
///
/// By the relative error of a point about the curve: up to 5 % it is good and up to 15 % fair. A curve that is poor says
/// nothing about the service, however narrow the intervals of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Goodness {
    /// Above 15 %, or not a number: the service is of another kind.
    Poor,
    /// Up to 15 %.
    Fair,
    /// Up to 5 %.
    Good,
}

impl Goodness {
    /// The word for a relative error.
    #[must_use]
    pub fn of(relative_error: f64) -> Self {
        if relative_error <= 0.05 {
            Goodness::Good
        } else if relative_error <= 0.15 {
            Goodness::Fair
        } else {
            Goodness::Poor
        }
    }
}

impl fmt::Display for Goodness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Goodness::Poor => "poor",
            Goodness::Fair => "fair",
            Goodness::Good => "good",
        })
    }
}
