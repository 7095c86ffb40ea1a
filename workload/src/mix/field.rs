//! What fills a named place.

use super::weights::{Unfit, Weights};
use super::{FieldsError, RandomText};
use crate::draws::Draws;
use crate::template::push_decimal;
use crate::{Keys, Values};

/// A choice shares no numbers with what is drawn elsewhere from the same seed.
const STREAM: u64 = 0x6368_6f69_6365;

/// What fills a named place of a [`Template`](crate::Template).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Field {
    /// A key, in decimal.
    Keys(Keys),
    /// A size, a length, a page: a whole number in decimal, see [`Values::count`].
    Count(Values),
    /// One of several texts.
    Choice(Choice),
    /// Random characters.
    Text(RandomText),
}

impl Field {
    /// Appends the text of request number `seq`.
    pub(super) fn push(&self, seed: u64, seq: u64, out: &mut String) {
        match self {
            Field::Keys(keys) => push_decimal(keys.key(seed, seq), out),
            Field::Count(values) => push_decimal(values.count(seed, seq), out),
            Field::Choice(choice) => out.push_str(choice.text(seed, seq)),
            Field::Text(text) => text.push(seed, seq, out),
        }
    }

    /// As many bytes as that text takes, or a few more.
    pub(super) fn capacity(&self, seed: impl Fn() -> u64, seq: u64) -> usize {
        match self {
            // The digits of u64::MAX.
            Field::Keys(_) | Field::Count(_) => 20,
            Field::Choice(choice) => choice.longest,
            Field::Text(text) => text.count(seed(), seq),
        }
    }
}

/// One of several texts, by weight.
///
/// ```
/// use openloop_workload::mix::Choice;
///
/// let language = Choice::weighted([("en", 8.0), ("de", 1.0), ("fr", 1.0)])?;
/// assert!(["en", "de", "fr"].contains(&language.text(7, 41)));
/// # Ok::<(), openloop_workload::mix::FieldsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    texts: Vec<String>,
    given: Vec<f64>,
    weights: Weights,
    /// In bytes.
    longest: usize,
}

impl Choice {
    /// One of these, all equally likely.
    ///
    /// # Errors
    /// When there are none.
    pub fn new<S: Into<String>>(texts: impl IntoIterator<Item = S>) -> Result<Self, FieldsError> {
        Self::weighted(texts.into_iter().map(|text| (text, 1.0)))
    }

    /// One of these, each as often as its weight says.
    ///
    /// # Errors
    /// When there are none, or a weight is negative, infinite or NaN, or all are 0.
    pub fn weighted<S: Into<String>>(
        texts: impl IntoIterator<Item = (S, f64)>,
    ) -> Result<Self, FieldsError> {
        let (texts, given): (Vec<String>, Vec<f64>) = texts
            .into_iter()
            .map(|(text, weight)| (text.into(), weight))
            .unzip();
        if texts.is_empty() {
            return Err(FieldsError::NoChoice);
        }
        let weights = Weights::new(&given).map_err(|unfit| match unfit {
            Unfit::AllZero => FieldsError::Weightless,
            Unfit::Weight(at) => FieldsError::Weight {
                text: texts[at].clone(),
                weight: given[at],
            },
        })?;
        Ok(Choice {
            longest: texts.iter().map(String::len).max().unwrap_or_default(),
            texts,
            given,
            weights,
        })
    }

    /// The text of request number `seq` of a run with this seed.
    #[must_use]
    pub fn text(&self, seed: u64, seq: u64) -> &str {
        &self.texts[self.weights.pick(Draws::of(seed, STREAM, seq).open_unit())]
    }

    /// The texts with their weights as they were given.
    pub fn texts(&self) -> impl Iterator<Item = (&str, f64)> {
        self.texts
            .iter()
            .map(String::as_str)
            .zip(self.given.iter().copied())
    }
}
