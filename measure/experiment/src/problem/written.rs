//! Values that a problem file writes as text.

use openloop_sched::{Arrivals, Bursts, Profile, Rate, parse_duration};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::str::FromStr;
use std::time::Duration;

/// A value as it was written, and what it means: `"30s"`, `"2000/s"`, `"100ms,900ms,5"`.
///
/// ```
/// use openloop_experiment::problem::Written;
/// use std::time::Duration;
///
/// let written: Written<Duration> = "1m30s".parse()?;
/// assert_eq!((written.text(), *written), ("1m30s", Duration::from_secs(90)));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Written<T> {
    text: String,
    value: T,
}

/// What can be written as text.
pub trait Readable: Sized {
    /// What `text` means, or why it means nothing.
    ///
    /// # Errors
    /// When it is not of the form; the message says what to write.
    fn read(text: &str) -> Result<Self, String>;
}

impl<T> Written<T> {
    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<T> Deref for Written<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Readable> FromStr for Written<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Written {
            text: text.to_owned(),
            value: T::read(text)?,
        })
    }
}

impl<T> Serialize for Written<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de, T: Readable> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<T>(PhantomData<T>);

        impl<T: Readable> Visitor<'_> for Text<T> {
            type Value = Written<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Written<T>, E> {
                text.parse().map_err(E::custom)
            }

            // A rate is a number as well; what lacks a unit says so.
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Written<T>, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Written<T>, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Written<T>, E> {
                self.visit_str(&number.to_string())
            }
        }

        deserializer.deserialize_any(Text(PhantomData))
    }
}

/// A rate needs no unit and is above 0; everything else is text.
#[cfg(test)]
impl<T: 'static> schemars::JsonSchema for Written<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Written".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        match std::any::TypeId::of::<T>() == std::any::TypeId::of::<Rate>() {
            true => schemars::json_schema!({ "type": ["string", "number"], "exclusiveMinimum": 0 }),
            false => schemars::json_schema!({ "type": "string" }),
        }
    }
}

macro_rules! readable {
    ($($type:ty),*) => { $(
        impl Readable for $type {
            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: <$type as FromStr>::Err| error.to_string())
            }
        }
    )* };
}

readable!(Rate, Arrivals, Bursts, Profile);

impl Readable for Duration {
    fn read(text: &str) -> Result<Self, String> {
        parse_duration(text).map_err(|error| error.to_string())
    }
}

/// Bits per second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Bandwidth(f64);

impl Bandwidth {
    /// Bits per second.
    #[must_use]
    pub fn bits_per_second(self) -> f64 {
        self.0
    }
}

impl Readable for Bandwidth {
    /// `10 Gbit/s`, `200 Mbit/s`, `25 MB/s`.
    fn read(text: &str) -> Result<Self, String> {
        let why = || {
            format!(
                "\"{text}\" is not a bandwidth: write a number above zero and bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s or GB/s, such as 10 Gbit/s"
            )
        };
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(why)?;
        let number: f64 = text[..end].parse().map_err(|_| why())?;
        let unit = match text[end..].trim() {
            "bit/s" => 1.0,
            "kbit/s" => 1e3,
            "Mbit/s" => 1e6,
            "Gbit/s" => 1e9,
            "B/s" => 8.0,
            "kB/s" => 8e3,
            "MB/s" => 8e6,
            "GB/s" => 8e9,
            _ => return Err(why()),
        };
        let bits = number * unit;
        match bits.is_finite() && bits > 0.0 {
            true => Ok(Bandwidth(bits)),
            false => Err(why()),
        }
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            bits if bits >= 1e9 => (bits / 1e9, "Gbit/s"),
            bits if bits >= 1e6 => (bits / 1e6, "Mbit/s"),
            bits => (bits / 1e3, "kbit/s"),
        };
        write!(f, "{value:.3} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bandwidth_has_a_unit() {
        let bits = |text: &str| Bandwidth::read(text).map(Bandwidth::bits_per_second);
        assert_eq!(bits("10 Gbit/s"), Ok(1e10));
        assert_eq!(bits("2.5MB/s"), Ok(2e7));
        for text in ["", "10", "0 bit/s", "ten bit/s", "-1 bit/s", "1 gbit"] {
            assert!(bits(text).unwrap_err().contains("Gbit/s"), "{text}");
        }
    }

    #[test]
    fn a_number_that_needs_a_unit_says_so() {
        let read = |text: &str| serde_json::from_str::<Written<Duration>>(text);
        assert_eq!(**read("\"1m\"").as_ref().unwrap(), Duration::from_secs(60));
        let why = read("10").unwrap_err().to_string();
        assert!(why.contains("lacks a unit"), "{why}");
        let rate: Written<Rate> = serde_json::from_str("2000").unwrap();
        assert_eq!(rate.as_per_second(), 2000.0);
    }
}
