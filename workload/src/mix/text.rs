//! Random text.

use super::FieldsError;
use crate::Values;
use crate::draws::Draws;
use crate::template::push_ascii;
use serde::{Deserialize, Serialize};

/// Random text shares no numbers with what is drawn elsewhere from the same seed.
const STREAM: u64 = 0x7465_7874;

/// The longest random text.
const LONGEST: f64 = (1_u64 << 24) as f64;

/// The characters of random text. None of them needs an escape in JSON, in a URL or in SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Alphabet {
    /// `0` to `9` and `a` to `f`: 4 bits a character.
    Hex,
    /// Letters, digits, `-` and `_`: 6 bits a character, so that no compression gains more than a quarter.
    UrlSafe,
}

impl Alphabet {
    const fn characters(self) -> &'static [u8] {
        match self {
            Alphabet::Hex => b"0123456789abcdef",
            Alphabet::UrlSafe => {
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            }
        }
    }

    const fn bits(self) -> u32 {
        match self {
            Alphabet::Hex => 4,
            Alphabet::UrlSafe => 6,
        }
    }
}

/// Random text whose length follows a law: a body, a token, a nonce.
///
/// ```
/// use openloop_workload::mix::{Alphabet, RandomText};
///
/// let body = RandomText::new(Alphabet::Hex, "fixed:16".parse()?)?;
/// assert_eq!(body.text(1, 0).len(), 16);
/// assert_ne!(body.text(1, 0), body.text(1, 1));
/// // A length without a bound is refused.
/// assert!(RandomText::new(Alphabet::Hex, "exponential:1000".parse()?).is_err());
/// assert!(RandomText::new(Alphabet::Hex, "exponential:1000,max=65536".parse()?).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RandomText {
    alphabet: Alphabet,
    length: Values,
}

impl RandomText {
    /// Text in these characters; its length in characters is the law's whole number ([`Values::count`]).
    ///
    /// # Errors
    /// When the law has values above 16 777 216, or none that it stays below.
    pub fn new(alphabet: Alphabet, length: Values) -> Result<Self, FieldsError> {
        let longest = length.quantile(1.0);
        if longest > LONGEST {
            return Err(FieldsError::Length(longest));
        }
        Ok(RandomText { alphabet, length })
    }

    /// The characters.
    #[must_use]
    pub const fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// The law of the length.
    #[must_use]
    pub const fn length(&self) -> &Values {
        &self.length
    }

    /// The text of request number `seq` of a run with this seed.
    #[must_use]
    pub fn text(&self, seed: u64, seq: u64) -> String {
        let mut text = String::with_capacity(self.count(seed, seq));
        self.push(seed, seq, &mut text);
        text
    }

    pub(super) fn count(&self, seed: u64, seq: u64) -> usize {
        self.length.count(seed, seq) as usize
    }

    pub(super) fn push(&self, seed: u64, seq: u64, out: &mut String) {
        let (characters, bits) = (self.alphabet.characters(), self.alphabet.bits());
        let mut draws = Draws::of(seed, STREAM, seq);
        let mut left = self.count(seed, seq);
        let mut buffer = [0; 16];
        while left > 0 {
            // All characters of one draw, and only those that are still wanted.
            let buffer = &mut buffer[..left.min(64 / bits as usize)];
            let mut number = draws.next();
            for place in buffer.iter_mut() {
                *place = characters[(number & ((1 << bits) - 1)) as usize];
                number >>= bits;
            }
            left -= buffer.len();
            push_ascii(buffer, out);
        }
    }
}
