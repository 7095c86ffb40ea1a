//! Why keys cannot be drawn.

/// Why keys cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// No such distribution, or its parameter is not a number.
    #[error(
        "\"{0}\" does not name keys: write uniform:N or sequential:N for the keys 1 to N, such as uniform:1000"
    )]
    Unknown(String),
    /// No key at all.
    #[error("of 0 keys none can be drawn: give at least 1")]
    Empty,
}
