//! Why keys cannot be drawn.

use super::ShareError;

/// Why keys cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// No law of this name.
    #[error(
        "\"{0}\" does not name keys: write uniform:N, sequential:N, zipf:N:S, hotspot:N:HOT:SHARE or latest:N:S:INSERTS for the keys 1 to N, such as zipf:1000:0.99"
    )]
    Unknown(String),
    /// The law is known, and its parameters are too few or too many.
    #[error("\"{text}\" does not have the parameters of its law: write {form}")]
    Form {
        /// What was written.
        text: String,
        /// What the law takes, with an example.
        form: &'static str,
    },
    /// A parameter is not a number, or not one of its kind.
    #[error("{parameter} = \"{text}\" is not {kind}")]
    Number {
        /// The name of the parameter.
        parameter: &'static str,
        /// What was written.
        text: String,
        /// What it must be, with an example.
        kind: &'static str,
    },
    /// What follows the law is not a modifier of it.
    #[error(
        "\"{0}\" does not modify keys: write drift=STEP/EVERY, scrambled or scrambled=SEED, in this order"
    )]
    Modifier(String),
    /// A parameter in a table that its law does not have.
    #[error("{parameter} is not a parameter of {law} keys: leave it out, or choose another law")]
    Stray {
        /// The name of the parameter.
        parameter: &'static str,
        /// The name of the law.
        law: String,
    },
    /// A parameter that its law needs is not in the table.
    #[error("{law} keys need {parameter}: give it beside law and n")]
    Missing {
        /// The name of the parameter, or of all of them.
        parameter: &'static str,
        /// The name of the law.
        law: String,
    },
    /// No key at all.
    #[error("of 0 keys none can be drawn: give at least 1")]
    Empty,
    /// An exponent that is negative, infinite or not a number.
    #[error(
        "s = {0} is no exponent of Zipf's law: give a finite number of at least 0, such as 0.99; 0 is uniform"
    )]
    Exponent(f64),
    /// No exponent gives this share.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// The hot keys are none or all.
    #[error(
        "hot = {fraction} of {n} keys leaves no key on one side: give a fraction between 0 and 1 that is at least one key and not every key"
    )]
    Hot {
        /// The fraction asked for.
        fraction: f64,
        /// How many keys there are.
        n: u64,
    },
    /// The hot keys would be asked for less often than the others.
    #[error(
        "share = {share} of the requests does not make {hot} of {n} keys hot: give a share from {hot}/{n} to 1"
    )]
    HotShare {
        /// The share asked for.
        share: f64,
        /// How many keys are hot.
        hot: u64,
        /// How many keys there are.
        n: u64,
    },
    /// A rate of inserts that is negative, not a number, or absurd.
    #[error(
        "inserts = {0} is no number of new keys per request: give one from 0 to 1000000, such as 0.05"
    )]
    Inserts(f64),
    /// A drift that never moves, or moves at no instant.
    #[error(
        "a drift by {step} keys every {every} requests does not move: give at least 1 for both, such as drift=10/5000"
    )]
    Drift {
        /// By how many keys.
        step: u64,
        /// Every how many requests.
        every: u64,
    },
    /// Latest keys have no fixed set to drift over or to permute.
    #[error(
        "latest keys move by themselves and new ones are added: leave out {0}, or choose another law"
    )]
    Moving(&'static str),
}
