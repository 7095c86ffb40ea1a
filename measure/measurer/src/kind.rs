//! Kinds of request: a label that an arrival carries, and their names.

use std::fmt;
use std::num::NonZeroU16;
use std::sync::Arc;

/// The kind of a request: its place among the [`Kinds`] that the recorder knows, from 0.
///
/// A small number that travels with each arrival; the name is kept once, by the recorder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(
    /// Plus one, so that `Option<Kind>` takes no more room.
    NonZeroU16,
);

impl Kind {
    /// The kind at `index`, from 0.
    ///
    /// It is not checked here, where nobody knows the names. An arrival of a kind that its recorder does not know
    /// has none, and is counted by [`Snapshot::unknown_kinds`](crate::Snapshot::unknown_kinds).
    #[must_use]
    pub fn new(index: usize) -> Self {
        let index = u16::try_from(index).unwrap_or(u16::MAX);
        Kind(NonZeroU16::MIN.saturating_add(index))
    }

    /// Its place, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0.get()) - 1
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kind").field(&self.index()).finish()
    }
}

/// The place of a kind in lists that have what is of no kind in front.
pub(crate) fn slot(kind: Option<Kind>) -> usize {
    kind.map_or(0, |kind| usize::from(kind.0.get()))
}

/// The names of the kinds of request in a run. A cheap handle: clone it freely.
///
/// ```
/// use openloop_measurer::{Kind, Kinds};
///
/// let kinds = Kinds::new(["read", "write"])?;
/// assert_eq!(kinds.get("write"), Some(Kind::new(1)));
/// assert_eq!(kinds.name(Kind::new(0)), Some("read"));
/// assert_eq!(kinds.name(Kind::new(2)), None);
/// # Ok::<(), openloop_measurer::KindsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kinds(Arc<[String]>);

impl Kinds {
    /// The most kinds that a run may have: each has histograms of its own.
    pub const MOST: usize = 256;

    /// The longest name, in characters.
    pub const LONGEST_NAME: usize = 64;

    /// Kinds of these names, in this order; none for a run whose requests are all of one kind.
    ///
    /// # Errors
    /// When a name is blank, longer than 64 characters, has control characters or comes twice, or there are more than
    /// 256.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Self, KindsError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.len() > Kinds::MOST {
            return Err(KindsError::TooMany(names.len()));
        }
        for (index, name) in names.iter().enumerate() {
            if name.trim().is_empty() || name.contains(char::is_control) {
                return Err(KindsError::Name(name.clone()));
            }
            let length = name.chars().count();
            if length > Kinds::LONGEST_NAME {
                return Err(KindsError::Length(name.clone(), length));
            }
            if names[..index].contains(name) {
                return Err(KindsError::Duplicate(name.clone()));
            }
        }
        Ok(Kinds(names.into()))
    }

    /// The kind of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Kind> {
        self.0.iter().position(|known| known == name).map(Kind::new)
    }

    /// The name of a kind; `None` if it is not one of these.
    #[must_use]
    pub fn name(&self, kind: Kind) -> Option<&str> {
        self.0.get(kind.index()).map(String::as_str)
    }

    /// The kinds and their names, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, &str)> {
        self.0
            .iter()
            .enumerate()
            .map(|(index, name)| (Kind::new(index), name.as_str()))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether requests are not told apart.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Why names are not kinds of request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KindsError {
    /// A blank name, or one that would break a line of a log.
    #[error("{0:?} is no name of a kind: give it some text, without control characters")]
    Name(String),
    /// A name that no table has room for.
    #[error("the kind \"{0}\" has a name of {1} characters: give it at most 64")]
    Length(String, usize),
    /// Two kinds of one name.
    #[error(
        "two kinds are called \"{0}\": results are told apart by the name, so give each its own"
    )]
    Duplicate(String),
    /// More than histograms can be kept for.
    #[error("{0} kinds are too many to keep apart: name at most 256, and leave the others without")]
    TooMany(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_kind_takes_two_bytes() {
        assert_eq!(size_of::<Option<Kind>>(), 2);
    }

    #[test]
    fn a_kind_is_its_place_and_an_absurd_one_is_in_no_list() {
        for index in [0, 1, 255, 65_000] {
            assert_eq!(Kind::new(index).index(), index);
        }
        let names = (0..Kinds::MOST).map(|index| format!("kind {index}"));
        let kinds = Kinds::new(names).unwrap();
        for index in [Kinds::MOST, 65_535, 65_536, 70_000, usize::MAX] {
            assert_eq!(kinds.name(Kind::new(index)), None, "{index}");
        }
    }

    #[test]
    fn names_that_cannot_be_told_apart_or_printed_are_refused() {
        for name in ["", " ", "two\nlines", "bell\u{7}"] {
            assert_eq!(
                Kinds::new(["read", name]),
                Err(KindsError::Name(name.to_owned()))
            );
        }
        assert_eq!(
            Kinds::new(["read", "write", "read"]),
            Err(KindsError::Duplicate("read".to_owned()))
        );
        let longest = "ü".repeat(Kinds::LONGEST_NAME);
        assert!(Kinds::new([longest.clone()]).is_ok());
        let longer = longest + "ü";
        assert_eq!(
            Kinds::new([longer.clone()]),
            Err(KindsError::Length(longer, 65))
        );
        let names = (0..=Kinds::MOST).map(|index| index.to_string());
        assert_eq!(Kinds::new(names), Err(KindsError::TooMany(257)));
        assert!(Kinds::new(["GET /a, then /b", "p99[x]", "schreiben"]).is_ok());
        assert!(Kinds::new(Vec::<String>::new()).unwrap().is_empty());
    }
}
