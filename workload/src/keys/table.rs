//! Keys in a problem file.

use super::{Drift, HotSpot, Keys, KeysError, Latest, Law, Sequential, Uniform, Zipf};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// All parameters of all laws; which belong to which is checked afterwards.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Table {
    law: String,
    n: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    top: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hot: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inserts: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drift: Option<DriftTable>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scrambled: Option<Scrambled>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct DriftTable {
    step: u64,
    every: u64,
}

/// `true` for the permutation number 0, or the number of one.
#[derive(Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "scrambled is true, false or the number of a permutation"
)]
enum Scrambled {
    Switch(bool),
    Seed(u64),
}

impl Table {
    fn keys(mut self) -> Result<Keys, KeysError> {
        let n = self.n;
        let law: Law = match self.law.as_str() {
            "uniform" => Uniform::new(n)?.into(),
            "sequential" => Sequential::new(n)?.into(),
            "zipf" => match (self.s.take(), self.top.take(), self.share.take()) {
                (Some(s), None, None) => Zipf::new(n, s)?.into(),
                (None, Some(top), Some(share)) => Zipf::from_share(n, top, share)?.into(),
                _ => return Err(self.missing("either s or both top and share")),
            },
            "hotspot" => match (self.hot.take(), self.share.take()) {
                (Some(hot), Some(share)) => HotSpot::new(n, hot, share)?.into(),
                _ => return Err(self.missing("both hot and share")),
            },
            "latest" => match (self.s.take(), self.inserts.take()) {
                (Some(s), Some(inserts)) => Latest::new(n, s, inserts)?.into(),
                _ => return Err(self.missing("both s and inserts")),
            },
            _ => return Err(KeysError::Unknown(self.law)),
        };
        // What no law has taken belongs to another.
        let left = [
            ("s", self.s),
            ("top", self.top),
            ("hot", self.hot),
            ("share", self.share),
            ("inserts", self.inserts),
        ];
        if let Some((parameter, _)) = left.into_iter().find(|(_, value)| value.is_some()) {
            let law = self.law;
            return Err(KeysError::Stray { parameter, law });
        }
        let mut keys = Keys::new(law);
        if let Some(DriftTable { step, every }) = self.drift {
            keys = keys.drifting(Drift::new(step, every)?)?;
        }
        match self.scrambled {
            None | Some(Scrambled::Switch(false)) => Ok(keys),
            Some(Scrambled::Switch(true)) => keys.scrambled(0),
            Some(Scrambled::Seed(seed)) => keys.scrambled(seed),
        }
    }

    fn missing(self, parameter: &'static str) -> KeysError {
        KeysError::Missing {
            parameter,
            law: self.law,
        }
    }
}

/// As a table: the law, n, its parameters, and `drift` and `scrambled` where there are any.
impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = Table {
            law: self.law().name().to_owned(),
            n: self.count(),
            drift: self.drift().map(|drift| DriftTable {
                step: drift.step(),
                every: drift.every(),
            }),
            scrambled: self
                .scramble()
                .map(|scramble| Scrambled::Seed(scramble.seed())),
            ..Table::default()
        };
        match self.law() {
            Law::Uniform(_) | Law::Sequential(_) => {}
            Law::Zipf(zipf) => table.s = Some(zipf.exponent()),
            Law::HotSpot(hotspot) => {
                table.hot = Some(hotspot.fraction());
                table.share = Some(hotspot.share());
            }
            Law::Latest(latest) => {
                table.s = Some(latest.ages().exponent());
                table.inserts = Some(latest.inserts());
            }
        }
        table.serialize(serializer)
    }
}

/// From a text, or from a table: checked as by the constructors.
impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either)
    }
}

struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = Keys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys, as a text such as \"zipf:1000:0.99\" or as a table such as { law = \"zipf\", n = 1000, s = 0.99 }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Keys, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Keys, A::Error> {
        let table = Table::deserialize(MapAccessDeserializer::new(map))?;
        table.keys().map_err(A::Error::custom)
    }
}
