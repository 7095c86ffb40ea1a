//! Objectives in files.

use super::bound::{Bound, Limit, Statistic};
use super::{Slo, SloError, parse};
use crate::file_error;
use openloop_measurer::Quantile;
use openloop_sched::parse_duration;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    noise_floor: Option<String>,
    #[serde(default)]
    bounds: Vec<String>,
    #[serde(default)]
    bound: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    metric: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    statistic: String,
    #[serde(default)]
    good: Option<String>,
    #[serde(default)]
    at_most: Option<String>,
    #[serde(default)]
    at_least: Option<String>,
}

impl Slo {
    /// A file to fill in, with every field explained.
    pub const TEMPLATE: &'static str = include_str!("template.toml");

    /// Reads an objective from TOML: see [`Slo::TEMPLATE`].
    ///
    /// ```
    /// use openloop_experiment::Slo;
    ///
    /// let slo = Slo::from_toml(r#"
    ///     noise_floor = "2ms"
    ///     bounds = ["p50 <= 1.5S", "p99 <= 4S"]
    ///
    ///     [[bound]]
    ///     metric = "ttft"
    ///     kind = "chat"
    ///     statistic = "p99"
    ///     at_most = "200ms"
    /// "#)?;
    /// assert_eq!(slo.to_string(), "p50 <= 1.5S, p99 <= max(4S, 2ms), ttft.p99[chat] <= 200ms");
    /// # Ok::<(), openloop_experiment::SloError>(())
    /// ```
    ///
    /// # Errors
    /// When it is not TOML, has a field that is not known, or states no objective; the message says where.
    pub fn from_toml(text: &str) -> Result<Self, SloError> {
        let table: Table = toml::from_str(text)
            .map_err(|error| SloError::File(file_error::of_toml(&error, text)))?;
        table.slo()
    }
}

impl Table {
    fn slo(self) -> Result<Slo, SloError> {
        let short = self.bounds.iter().flat_map(|text| parse::split(text));
        let short = short.map(parse::bound);
        let mut bounds: Vec<Bound> = short
            .chain(self.bound.into_iter().map(Entry::bound))
            .collect::<Result<_, _>>()?;
        if let Some(noise_floor) = self.noise_floor {
            let noise_floor = parse_duration(&noise_floor)?;
            for bound in &mut bounds {
                // One of its own comes first. The middle of the distribution is no noise.
                if let (Limit::OfFloor { at_least_ns, .. }, Statistic::Quantile(q)) =
                    (bound.limit, bound.statistic)
                    && at_least_ns == 0.0
                    && q.as_f64() >= Quantile::P99.as_f64()
                {
                    *bound = bound.clone().but_at_least(noise_floor);
                }
            }
        }
        Slo::new(bounds)
    }
}

impl Entry {
    fn bound(self) -> Result<Bound, SloError> {
        let what = match &self.metric {
            Some(metric) => format!("{metric}.{}", self.statistic),
            None => self.statistic.clone(),
        };
        let (metric, statistic) = parse::subject(&what)?;
        let wrong = |what: &str| {
            let text = format!("the bound on {} {what}", self.statistic);
            Err(SloError::File(text))
        };
        let allowed = match (statistic.is_at_least(), &self.at_most, &self.at_least) {
            (true, None, Some(least)) => least.trim(),
            (true, ..) => return wrong("needs at_least, and has no at_most"),
            (false, Some(most), None) => most.trim(),
            (false, ..) => return wrong("needs at_most, and has no at_least"),
        };
        if self.good.is_some() && statistic != Statistic::Goodput {
            return wrong("has no good: that is of goodput");
        }
        let statistic = parse::of_unit(statistic, allowed);
        Ok(Bound {
            kind: self.kind.clone(),
            good: self.good.clone(),
            ..Bound::new(metric, statistic, parse::limit(statistic, allowed)?)
        })
    }
}

/// In TOML or JSON: the short form, a list of such, or the table of [`Slo::TEMPLATE`].
impl<'de> Deserialize<'de> for Slo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyForm)
    }
}

/// By hand, so that what is wrong is named: of several forms that may stand in one place, serde says only that none fits.
struct AnyForm;

impl<'de> Visitor<'de> for AnyForm {
    type Value = Slo;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            r#"an objective: "p99<=100ms", a list of such bounds, or a table with bounds or bound"#,
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Slo, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Slo, A::Error> {
        let mut bounds = Vec::new();
        while let Some(text) = list.next_element::<String>()? {
            let parts = parse::split(&text).into_iter();
            for part in parts.filter(|part| !part.trim().is_empty()) {
                bounds.push(parse::bound(part).map_err(de::Error::custom)?);
            }
        }
        Slo::new(bounds).map_err(de::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Slo, A::Error> {
        let table = Table::deserialize(MapAccessDeserializer::new(table))?;
        table.slo().map_err(de::Error::custom)
    }
}

/// The short form, exact.
impl Serialize for Slo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_an_objective_and_reads_as_it_is_written() {
        let slo = Slo::from_toml(Slo::TEMPLATE).unwrap();
        assert_eq!(slo.to_string().parse::<Slo>().unwrap(), slo);
        assert!(slo.bounds().len() >= 6, "{slo}");
        assert!(slo.needs_floor());
    }

    #[test]
    fn a_table_says_the_same_as_the_short_form() {
        let table = r#"
            noise_floor = "1.5ms"
            bounds = ["p50[read]<=1.5S, mean<=3ms"]
            [[bound]]
            statistic = "p99"
            at_most = "max(4S, 2ms)"
            [[bound]]
            metric = "connect"
            kind = "a, b"
            statistic = "p99.9"
            at_most = "2500us"
            [[bound]]
            statistic = "achieved"
            at_least = "950.5/s"
            [[bound]]
            statistic = "errors"
            at_most = "0.1%"
            [[bound]]
            statistic = "goodput"
            good = "ttft<=200ms, tpot<=25ms"
            at_least = "99%"
        "#;
        let slo = Slo::from_toml(table).unwrap();
        let text = "p50[read] <= 1.5S, mean <= 3ms, p99 <= max(4S, 2ms), \
                    connect.p99.9[a, b] <= 2500us, achieved >= 950.5/s, errors <= 0.001, \
                    goodput(ttft<=200ms, tpot<=25ms) >= 0.99";
        assert_eq!(slo.to_string(), text);
        assert_eq!(text.parse::<Slo>().unwrap(), slo);
    }

    #[test]
    fn what_is_wrong_in_a_file_is_named() {
        for (text, named) in [
            ("", "at least one bound"),
            ("bounds = 5", "bounds"),
            ("limit = \"5ms\"", "limit"),
            ("[[bound]]\nstatistic = \"p99\"", "at_most"),
            (
                "[[bound]]\nstatistic = \"achieved\"\nat_most = \"5/s\"",
                "at_least",
            ),
            (
                "[[bound]]\nstatistic = \"errors\"\ngood = \"ttft<=1s\"\nat_most = \"1%\"",
                "goodput",
            ),
            ("[[bound]]\nstatistic = \"p0\"\nat_most = \"5ms\"", "p0"),
            ("[[bound]]\nstatistic = \"p99\"\nat_most = \"5\"", "5"),
            ("noise_floor = \"2\"\nbounds = [\"p99<=4S\"]", "2"),
            ("bounds = [\"p99 < 5ms\"]", "p99 < 5ms"),
        ] {
            let error = Slo::from_toml(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
        // In a statement it may have any of its forms.
        for (json, named) in [
            ("5", "an objective"),
            ("[5]", "a string"),
            ("{\"bonds\": []}", "bonds"),
            ("{\"bounds\": 5}", "5"),
            ("\"p99\"", "p99"),
            ("[\"p99<=5ms\", \"p50\"]", "p50"),
        ] {
            let error = serde_json::from_str::<Slo>(json).unwrap_err().to_string();
            assert!(
                error.contains(named) && !error.contains("untagged"),
                "{json}: {error}"
            );
        }
    }
}
