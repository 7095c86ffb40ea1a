//! Values as a table, for `serde`.

use super::parameters::{COLUMN, EMPIRICAL, Parameters, SEQUENCE, parameters};
use super::source::Origin;
use super::{Empirical, Sequence, Source, Values, ValuesError};
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (law, bounds, name, parameters) = parameters(self);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("law", name)?;
        if let Values::Empirical(law) = law {
            let (values, counts): (Vec<f64>, Vec<u64>) = law.counts().unzip();
            map.serialize_entry("values", &values)?;
            map.serialize_entry("counts", &counts)?;
        }
        if let Values::Sequence(law) = law {
            map.serialize_entry("values", law.values())?;
        }
        for (name, value) in parameters.into_iter().chain(bounds.named()) {
            map.serialize_entry(&name, &value)?;
        }
        map.end()
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Origin::Values(values) => values.serialize(serializer),
            Origin::File { path, bounds } => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("law", EMPIRICAL.law)?;
                map.serialize_entry("file", path)?;
                for (name, value) in bounds.named() {
                    map.serialize_entry(&name, &value)?;
                }
                map.end()
            }
            Origin::Column { name, bounds } => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("law", COLUMN.law)?;
                map.serialize_entry("column", name)?;
                for (name, value) in bounds.named() {
                    map.serialize_entry(&name, &value)?;
                }
                map.end()
            }
        }
    }
}

/// From the short text or the table. A file is refused: [`Source`] takes it.
impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Source::deserialize(deserializer)?
            .ready()
            .map_err(de::Error::custom)
    }
}

/// From the short text or the table, of a file too.
impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SourceVisitor)
    }
}

struct SourceVisitor;

impl<'de> Visitor<'de> for SourceVisitor {
    type Value = Source;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("values, such as \"lognormal:mean=200,cv=1.5\" or a table of law = \"lognormal\", mean and cv")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Source, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Source, A::Error> {
        let mut table = Table::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "law" => once(&mut table.law, "law", map.next_value()?)?,
                "values" => once(&mut table.values, "values", map.next_value()?)?,
                "counts" => once(&mut table.counts, "counts", map.next_value()?)?,
                "file" => once(&mut table.file, "file", map.next_value()?)?,
                "column" => once(&mut table.column, "column", map.next_value()?)?,
                _ => {
                    let value = map.next_value()?;
                    table.parameters.0.push((Some(name), value));
                }
            }
        }
        let law = table
            .law
            .take()
            .ok_or_else(|| de::Error::missing_field("law"))?;
        table.build(&law).map_err(de::Error::custom)
    }
}

fn once<T, E: de::Error>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(name)),
    }
}

#[derive(Default)]
struct Table {
    law: Option<String>,
    values: Option<Vec<f64>>,
    counts: Option<Vec<u64>>,
    file: Option<PathBuf>,
    column: Option<String>,
    parameters: Parameters,
}

impl Table {
    fn build(mut self, law: &str) -> Result<Source, ValuesError> {
        let (form, own): (_, &[&str]) = match law {
            _ if law == EMPIRICAL.law => (EMPIRICAL, &["values", "counts", "file"]),
            _ if law == SEQUENCE.law => (SEQUENCE, &["values"]),
            _ if law == COLUMN.law => (COLUMN, &["column"]),
            _ => {
                let values = std::mem::take(&mut self.parameters).build(law)?;
                return self.only(parameters(&values).2, &[]).map(|_| values.into());
            }
        };
        let bounds = self.parameters.bounds();
        std::mem::take(&mut self.parameters).finish(&form)?;
        let table = self.only(form.law, own)?;
        if form.law == COLUMN.law {
            return match table.column {
                Some(column) => Source::in_trace(column, bounds),
                None => Err(missing(form.law, "column", "column = \"size\"")),
            };
        }
        if form.law == SEQUENCE.law {
            let values = table
                .values
                .ok_or_else(|| missing(form.law, "values", "values = [100, 250, 100]"))?;
            return Ok(bounds
                .apply(Values::Sequence(Sequence::new(values)?))?
                .into());
        }
        match (table.values, table.counts, table.file) {
            (None, None, Some(path)) => Source::in_file(path, bounds),
            (Some(values), counts, None) => {
                let counts = counts.unwrap_or_else(|| vec![1; values.len()]);
                if counts.len() != values.len() {
                    return Err(ValuesError::Counts {
                        values: values.len(),
                        counts: counts.len(),
                    });
                }
                let law = Empirical::with_counts(values.into_iter().zip(counts))?;
                Ok(bounds.apply(Values::Empirical(law))?.into())
            }
            (Some(_), _, Some(_)) => {
                Err(unexpected(form.law, "both values and file", "one of them"))
            }
            (None, Some(_), _) => Err(unexpected(
                form.law,
                "counts without values",
                "values with them",
            )),
            (None, None, None) => Err(missing(
                form.law,
                "values",
                "values = [100, 250] and counts = [3, 1], or file = \"sizes.csv\"",
            )),
        }
    }

    /// Refuses what belongs to another law.
    fn only(self, law: &'static str, own: &[&str]) -> Result<Self, ValuesError> {
        let stray = [
            (
                "values",
                self.values.is_some(),
                "law = \"empirical\" with it",
            ),
            (
                "counts",
                self.counts.is_some(),
                "law = \"empirical\" with it",
            ),
            ("file", self.file.is_some(), "law = \"empirical\" with it"),
            ("column", self.column.is_some(), "law = \"trace\" with it"),
        ]
        .into_iter()
        .find(|(name, given, _)| *given && !own.contains(name));
        match stray {
            None => Ok(self),
            Some((name, _, usage)) => Err(unexpected(law, name, usage)),
        }
    }
}

fn missing(law: &'static str, parameter: &str, usage: &'static str) -> ValuesError {
    ValuesError::Missing {
        law,
        parameter: parameter.to_owned(),
        usage,
    }
}

fn unexpected(law: &'static str, parameter: &str, usage: &'static str) -> ValuesError {
    ValuesError::Unexpected {
        law,
        parameter: parameter.to_owned(),
        usage,
    }
}
