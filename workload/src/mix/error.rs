//! Why kinds of request make no mix.

/// Why kinds of request make no mix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MixError {
    /// No kind at all.
    #[error("a mix of no kinds asks for nothing: give at least one")]
    Empty,
    /// A kind without a name, or with one that would break a line of a log.
    #[error("{0:?} is no name of a kind: give it some text, without control characters")]
    Name(String),
    /// Two kinds of one name.
    #[error(
        "two kinds are called \"{0}\": results are told apart by the name, so give each its own"
    )]
    Duplicate(String),
    /// A weight that is negative, infinite or NaN.
    #[error(
        "the kind \"{kind}\" has the weight {weight}: give a number of at least 0, such as 3 or 0.25"
    )]
    Weight {
        /// The kind.
        kind: String,
        /// Its weight.
        weight: f64,
    },
    /// All weights are 0.
    #[error("every kind has the weight 0: give one at least a weight above it")]
    Weightless,
    /// A share that is none.
    #[error("the share of reads is {0}: give a number from 0 to 1, such as 0.95")]
    Share(f64),
}
