//! Why fields cannot be filled.

use crate::values::LoadError;

/// Why fields cannot be filled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FieldsError {
    /// A name that no place in a template can have.
    #[error(
        "\"{0}\" is no name of a field: use letters, digits, and . - _ between them, up to 64 in all"
    )]
    Name(String),
    /// Two fields of one name.
    #[error("two fields are called \"{0}\": give each its own name")]
    Duplicate(String),
    /// A choice among nothing.
    #[error("of no texts none can be chosen: give at least one")]
    NoChoice,
    /// More or fewer weights than texts.
    #[error("{texts} texts have {weights} weights: give one for each, or none at all")]
    Weights {
        /// How many texts.
        texts: usize,
        /// How many weights.
        weights: usize,
    },
    /// A weight that is negative, infinite or NaN.
    #[error("the text \"{text}\" has the weight {weight}: give a number of at least 0")]
    Weight {
        /// The text.
        text: String,
        /// Its weight.
        weight: f64,
    },
    /// All weights are 0.
    #[error("every text has the weight 0: give one at least a weight above it")]
    Weightless,
    /// Random text without a bound, or with one that no request should reach.
    #[error(
        "random text of up to {0} characters: bound its length to 16777216 or less, such as with max=65536"
    )]
    Length(f64),
    /// A field whose table says nothing that can be drawn, or more than one such thing.
    #[error(
        "the field has to have one of keys, count, choice (with weights or without) and text (with its length), not {0}"
    )]
    Form(&'static str),
    /// One of the fields, by its name.
    #[error("the field \"{name}\": {error}")]
    Field {
        /// The name.
        name: String,
        /// What is wrong with it.
        #[source]
        error: Box<FieldsError>,
    },
    /// Values that cannot be loaded.
    #[error(transparent)]
    Values(#[from] LoadError),
}
