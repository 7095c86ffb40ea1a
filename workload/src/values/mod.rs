//! How large, how long, how many: sizes, durations, token counts and think times.
//!
//! A law has no unit: what it is given in, it gives back, whether bytes, tokens or seconds.
//!
//! | my values … | law | C_v |
//! | --- | --- | --- |
//! | are all the same | [`Fixed`] | 0 |
//! | lie anywhere between two bounds | [`Uniform`] | up to 0.58 |
//! | vary less than exponential ones, as sums of steps do | [`Gamma`] | from 10⁻⁶ |
//! | have no memory, as the service of M/M/1 | [`Exponential`] | 1 |
//! | are mostly small and sometimes large; or I know p50 and p99 alone | [`LogNormal`] | any |
//! | are short or long, and I know C_v alone | [`HyperExponential`] | above 1 |
//! | have a heavy tail up to a largest one, as files do | [`Pareto`] | any |
//! | were measured | [`Empirical`] | its own |
//! | were measured, and their order matters | [`Sequence`] | its own |
//! | as one of these, within bounds | [`Clamped`] | computed |
//!
//! [`Values`] is any of these, by a text such as `lognormal:mean=200,cv=1.5`; [`Law`] is what they have in common.
//! Laws draw the same uniform number for the same request: with another mean the same requests are the large ones, so
//! that two laws are compared on the same chances.

mod clamped;
mod csv;
mod empirical;
mod error;
mod exponential;
mod fixed;
mod gamma;
mod hyper_exponential;
mod law;
mod lognormal;
mod parameters;
mod pareto;
mod scaled;
mod sequence;
mod source;
mod special;
mod table;
mod uniform;

pub use clamped::Clamped;
pub use csv::CsvError;
pub use empirical::Empirical;
pub use error::ValuesError;
pub use exponential::Exponential;
pub use fixed::Fixed;
pub use gamma::Gamma;
pub use hyper_exponential::HyperExponential;
pub use law::Law;
pub use lognormal::LogNormal;
pub use pareto::Pareto;
pub use sequence::Sequence;
pub use source::{LoadError, Source};
pub use uniform::Uniform;

use std::path::Path;

/// A law of sizes, durations or counts, by name: what a user chooses.
///
/// As text, parameters have their names or stand in their order:
///
/// | text | law |
/// | --- | --- |
/// | `fixed:200` | [`Fixed`] |
/// | `uniform:lo=100,hi=300`, `uniform:100:300` | [`Uniform`] |
/// | `exponential:200` | [`Exponential`] |
/// | `lognormal:mean=200,cv=1.5`, `lognormal:200:1.5`, `lognormal:p50=180,p99=900` | [`LogNormal`] |
/// | `gamma:mean=200,cv=0.5` | [`Gamma`] |
/// | `pareto:shape=1.1,lo=100,hi=1e9` | [`Pareto`] |
/// | `hyperexponential:mean=200,cv=4` | [`HyperExponential`] |
/// | `empirical:100x3,250`, `empirical:FILE` (see [`Values::load`]) | [`Empirical`] |
/// | `sequence:100,250,100` | [`Sequence`] |
/// | any of them and `,min=1`, `,max=8192` or both | [`Clamped`] |
///
/// In a file read by `serde` it is such a text or a table of the same names, and it is written as the table:
///
/// ```
/// use openloop_workload::Values;
///
/// let text: Values = serde_json::from_str(r#""lognormal:mean=200,cv=1.5,max=8192""#)?;
/// let table = r#"{"law":"lognormal","mean":200.0,"cv":1.5,"max":8192.0}"#;
/// assert_eq!(serde_json::from_str::<Values>(table)?, text);
/// assert_eq!(serde_json::to_string(&text)?, table);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// ```
/// use openloop_workload::Values;
///
/// let tokens: Values = "lognormal:p50=180,p99=900".parse()?;
/// assert!((tokens.mean() - 228.7).abs() < 0.1);
/// assert_eq!(tokens.value(7, 41), tokens.value(7, 41));
/// # Ok::<(), openloop_workload::ValuesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// Always the same.
    Fixed(Fixed),
    /// Between two bounds, all alike.
    Uniform(Uniform),
    /// Without memory.
    Exponential(Exponential),
    /// Mostly small, sometimes large.
    LogNormal(LogNormal),
    /// Of any spread, without a heavy tail.
    Gamma(Gamma),
    /// With a heavy tail between bounds.
    Pareto(Pareto),
    /// Short or long.
    HyperExponential(HyperExponential),
    /// As measured.
    Empirical(Empirical),
    /// As measured, in order.
    Sequence(Sequence),
    /// Another law within bounds.
    Clamped(Clamped),
}

impl Values {
    /// The same text as [`FromStr`](std::str::FromStr) reads, or `empirical:FILE`, whose file is read, in the form of
    /// [`Empirical::from_csv`]; a relative path starts at `folder`.
    ///
    /// Parsing alone reads no file, so that a text from elsewhere names none of yours.
    ///
    /// # Errors
    /// When the text is of no law, or the file cannot be read or has a bad line.
    pub fn load(text: &str, folder: &Path) -> Result<Self, LoadError> {
        text.parse::<Source>()?.load(folder)
    }

    /// These values, none below `lo` and none above `hi`: what lies outside becomes the nearer bound. `hi` may be
    /// infinite.
    ///
    /// # Errors
    /// As for [`Clamped::new`].
    ///
    /// ```
    /// use openloop_workload::Values;
    ///
    /// let tokens = "lognormal:mean=200,cv=1.5".parse::<Values>()?.clamped(1.0, 8192.0)?;
    /// assert_eq!(tokens.quantile(1.0), 8192.0);
    /// # Ok::<(), openloop_workload::ValuesError>(())
    /// ```
    pub fn clamped(self, lo: f64, hi: f64) -> Result<Self, ValuesError> {
        Ok(Values::Clamped(Clamped::new(self, lo, hi)?))
    }

    /// The value of request number `seq` of a run with this seed; see [`Law::value`].
    #[must_use]
    pub fn value(&self, seed: u64, seq: u64) -> f64 {
        self.law().value(seed, seq)
    }

    /// The value as a whole number, rounded to the nearest: bytes, tokens, rows.
    ///
    /// Rounding moves the mean by less than ½, and by next to nothing where values spread over many whole numbers: by
    /// −1/(24 m), for exponential ones. It counts where the mean is a few units. Half a unit and less becomes 0; where
    /// there must be one at least, clamp the values to 1 first: with whole bounds, clamping before rounding is the
    /// same as after. What does not fit is `u64::MAX`.
    #[must_use]
    pub fn count(&self, seed: u64, seq: u64) -> u64 {
        // The conversion takes what is out of range to the nearest number in it.
        libm::round(self.value(seed, seq)) as u64
    }

    /// The mean, m.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.law().mean()
    }

    /// The coefficient of variation, C_v: the standard deviation over the mean; 0 where the mean is 0.
    #[must_use]
    pub fn cv(&self) -> f64 {
        self.law().cv()
    }

    /// The quantile Q(q), `q` from 0 to 1; see [`Law::quantile`].
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        self.law().quantile(q)
    }

    /// F(x), the share of the values that are not above `x`.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.law().cdf(x)
    }

    /// (1 + C_v²)/2, by which the law's variance multiplies the wait at a server with such service times.
    ///
    /// Pollaczek and Khinchine: with one server and Poisson arrivals, W_q = ρ/(1 − ρ) · m · (1 + C_v²)/2. It is ½ for
    /// work that is always the same and 1 for exponential work.
    ///
    /// ```
    /// use openloop_workload::Values;
    ///
    /// assert_eq!("fixed:10".parse::<Values>()?.pollaczek_khinchine(), 0.5);
    /// assert_eq!("gamma:mean=10,cv=3".parse::<Values>()?.pollaczek_khinchine(), 5.0);
    /// # Ok::<(), openloop_workload::ValuesError>(())
    /// ```
    #[must_use]
    pub fn pollaczek_khinchine(&self) -> f64 {
        let cv = self.cv();
        0.5 * (1.0 + cv * cv)
    }

    /// The law itself.
    #[must_use]
    pub fn law(&self) -> &dyn Law {
        match self {
            Values::Fixed(law) => law,
            Values::Uniform(law) => law,
            Values::Exponential(law) => law,
            Values::LogNormal(law) => law,
            Values::Gamma(law) => law,
            Values::Pareto(law) => law,
            Values::HyperExponential(law) => law,
            Values::Empirical(law) => law,
            Values::Sequence(law) => law,
            Values::Clamped(law) => law,
        }
    }
}
