//! Which key a request asks for.
//!
//! Keys are the whole numbers `1..=n`.

mod error;
mod sequential;
mod uniform;

pub use error::KeysError;
pub use sequential::Sequential;
pub use uniform::Uniform;

use std::fmt;
use std::str::FromStr;

/// A distribution of keys, by name: what a user chooses.
///
/// ```
/// use openloop_workload::Keys;
///
/// let keys: Keys = "uniform:1000".parse()?;
/// assert!((1..=1000).contains(&keys.key(7, 0)));
/// assert_eq!(keys.to_string(), "uniform:1000");
/// assert!("uniform:0".parse::<Keys>().is_err());
/// # Ok::<(), openloop_workload::KeysError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keys {
    /// At random, all equally likely.
    Uniform(Uniform),
    /// In turn.
    Sequential(Sequential),
}

impl Keys {
    /// The key that request number `seq` of a run with this seed asks for, in `1..=n`.
    #[must_use]
    pub const fn key(&self, seed: u64, seq: u64) -> u64 {
        match self {
            Keys::Uniform(uniform) => uniform.key(seed, seq),
            Keys::Sequential(sequential) => sequential.key(seq),
        }
    }

    /// How many keys there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        match self {
            Keys::Uniform(uniform) => uniform.count(),
            Keys::Sequential(sequential) => sequential.count(),
        }
    }
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keys::Uniform(uniform) => write!(f, "uniform:{}", uniform.count()),
            Keys::Sequential(sequential) => write!(f, "sequential:{}", sequential.count()),
        }
    }
}

/// `uniform:N` or `sequential:N`.
impl FromStr for Keys {
    type Err = KeysError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || KeysError::Unknown(text.to_owned());
        let (name, count) = text.trim().split_once(':').ok_or_else(unknown)?;
        let count = || count.trim().parse().map_err(|_| unknown());
        match name {
            "uniform" => Ok(Keys::Uniform(Uniform::new(count()?)?)),
            "sequential" => Ok(Keys::Sequential(Sequential::new(count()?)?)),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_written_alike() {
        for text in ["uniform:1", "sequential:18446744073709551615"] {
            assert_eq!(text.parse::<Keys>().unwrap().to_string(), text);
        }
        assert_eq!(
            " sequential: 10 ".parse(),
            Ok(Keys::Sequential(Sequential::new(10).unwrap()))
        );
    }

    #[test]
    fn what_names_no_keys_is_refused_with_what_was_written() {
        for text in [
            "",
            "uniform",
            "uniform:",
            "uniform:x",
            "uniform:-1",
            "zip:5",
        ] {
            assert_eq!(
                text.parse::<Keys>(),
                Err(KeysError::Unknown(text.to_owned()))
            );
        }
        assert_eq!("uniform:0".parse::<Keys>(), Err(KeysError::Empty));
        assert_eq!("sequential:0".parse::<Keys>(), Err(KeysError::Empty));
    }
}
