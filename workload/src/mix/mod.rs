//! Several kinds of request in one load.
//!
//! | I want … | look at |
//! | --- | --- |
//! | kinds of request by weight | [`Mix`], [`Kind`] |
//! | reads and writes in a ratio | [`Mix::read_write`] |
//! | to know how uneven the work is, before the run | [`Mix::demand`], [`Mix::shares`] |
//! | keys, sizes, words and random text in named places of a request | [`Fields`] |

mod error;
mod field;
mod fields;
mod fields_error;
mod fields_source;
mod kind;
mod table;
mod text;
mod weights;
mod work;

pub use error::MixError;
pub use field::{Choice, Field};
pub use fields::Fields;
pub use fields_error::FieldsError;
pub use fields_source::FieldsSource;
pub use kind::Kind;
pub use text::{Alphabet, RandomText};
pub use work::{Demand, Share};

use crate::draws::Draws;
use crate::seed::named;
use std::collections::BTreeSet;
use weights::{Unfit, Weights};

/// The choice of a kind shares no numbers with what is drawn elsewhere from the same seed.
const STREAM: u64 = 0x006d_6978;

/// Kinds of request, each as often as its weight says.
///
/// A server that sees one kind of request has an easy life: the work is always the same, and queues are as short as
/// can be. Real services are polymorphic, and what the mix does to waiting can be read before anything is sent, from
/// [`Mix::demand`].
///
/// `T` is what the user needs to make a request of the kind: a template, samplers, a closure.
///
/// With `serde` a mix is a list of kinds: `name`, `weight`, `demand` if it is known, and beside them the fields of
/// `T`. What is neither is refused if `T` refuses it (`deny_unknown_fields`).
///
/// ```
/// use openloop_workload::{Mix, mix::Kind};
///
/// let mix = Mix::new([Kind::new("view", 95.0, "GET"), Kind::new("buy", 5.0, "POST")])?;
/// let picked = mix.pick(7, 41);
/// assert_eq!(picked, mix.pick(7, 41));
/// assert!(["view", "buy"].contains(&picked.name));
/// # Ok::<(), openloop_workload::mix::MixError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mix<T> {
    kinds: Vec<Kind<T>>,
    weights: Weights,
}

/// The kind of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Picked<'a, T> {
    /// Its place in the mix, from 0.
    pub index: usize,
    /// The label that the result carries.
    pub name: &'a str,
    /// What the user needs to make the request.
    pub payload: &'a T,
}

impl<T> Mix<T> {
    /// A mix of these kinds.
    ///
    /// # Errors
    /// When there are none, a name is empty, has control characters or comes twice, a weight is negative, infinite or
    /// NaN, or all are 0.
    pub fn new(kinds: impl IntoIterator<Item = Kind<T>>) -> Result<Self, MixError> {
        let kinds: Vec<_> = kinds.into_iter().collect();
        if kinds.is_empty() {
            return Err(MixError::Empty);
        }
        let mut names = BTreeSet::new();
        for name in kinds.iter().map(Kind::name) {
            if name.trim().is_empty() || name.contains(char::is_control) {
                return Err(MixError::Name(name.to_owned()));
            }
            if !names.insert(name) {
                return Err(MixError::Duplicate(name.to_owned()));
            }
        }
        let weights: Vec<_> = kinds.iter().map(Kind::weight).collect();
        let weights = Weights::new(&weights).map_err(|unfit| match unfit {
            Unfit::AllZero => MixError::Weightless,
            Unfit::Weight(at) => MixError::Weight {
                kind: kinds[at].name().to_owned(),
                weight: kinds[at].weight(),
            },
        })?;
        Ok(Mix { kinds, weights })
    }

    /// Reads and writes, called `read` and `write`, of which `read_share` are reads.
    ///
    /// # Errors
    /// When the share is not a number from 0 to 1.
    ///
    /// ```
    /// use openloop_workload::Mix;
    ///
    /// let mix = Mix::read_write(0.95, "SELECT", "UPDATE")?;
    /// let reads = (0..10_000).filter(|&seq| mix.pick(1, seq).name == "read").count();
    /// // Five standard deviations of a binomial count are 109.
    /// assert!(reads.abs_diff(9_500) < 109);
    /// # Ok::<(), openloop_workload::mix::MixError>(())
    /// ```
    pub fn read_write(read_share: f64, read: T, write: T) -> Result<Self, MixError> {
        if !(0.0..=1.0).contains(&read_share) {
            return Err(MixError::Share(read_share));
        }
        Mix::new([
            Kind::new("read", read_share, read),
            Kind::new("write", 1.0 - read_share, write),
        ])
    }

    /// The kind of request number `seq` of a run with this seed: a pure function of both.
    #[must_use]
    pub fn pick(&self, seed: u64, seq: u64) -> Picked<'_, T> {
        let index = self.weights.pick(Draws::of(seed, STREAM, seq).open_unit());
        let kind = &self.kinds[index];
        Picked {
            index,
            name: kind.name(),
            payload: kind.payload(),
        }
    }

    /// The work of request number `seq`, drawn from the demand of its kind; `None` where that is unknown.
    ///
    /// It is the demand's value for the seed [`named`] "demand". For a rehearsal on a simulated server: a long run of these has mean and C_v of [`Mix::demand`].
    #[must_use]
    pub fn work(&self, seed: u64, seq: u64) -> Option<f64> {
        let demand = self.kinds[self.pick(seed, seq).index].demand()?;
        Some(demand.value(named(seed, "demand"), seq))
    }

    /// The kinds, in the order in which they were given.
    #[must_use]
    pub fn kinds(&self) -> &[Kind<T>] {
        &self.kinds
    }

    /// The same mix with other payloads, made of each name and payload: files read, templates parsed.
    ///
    /// # Errors
    /// The first that `map` gives.
    pub fn try_map<U, E>(self, mut map: impl FnMut(&str, T) -> Result<U, E>) -> Result<Mix<U>, E> {
        let kinds = self.kinds.into_iter().map(|kind| kind.try_map(&mut map));
        Ok(Mix {
            kinds: kinds.collect::<Result<_, _>>()?,
            weights: self.weights,
        })
    }

    /// The same kinds with other weights, told by name: as often as a log or a trace has them.
    ///
    /// # Errors
    /// When a weight is negative, infinite or NaN, or all are 0.
    ///
    /// ```
    /// use openloop_workload::Mix;
    ///
    /// let mix = Mix::read_write(0.5, "SELECT", "UPDATE")?;
    /// let as_logged = mix.reweighted(|kind| if kind == "read" { 1900.0 } else { 100.0 })?;
    /// assert_eq!(as_logged.shares()[0].of_requests, 0.95);
    /// # Ok::<(), openloop_workload::mix::MixError>(())
    /// ```
    pub fn reweighted(self, mut weight: impl FnMut(&str) -> f64) -> Result<Self, MixError> {
        Mix::new(self.kinds.into_iter().map(|kind| {
            let weight = weight(kind.name());
            kind.with_weight(weight)
        }))
    }

    fn weighted(&self) -> impl Iterator<Item = (f64, &Kind<T>)> {
        self.weights.shares().iter().copied().zip(&self.kinds)
    }
}
