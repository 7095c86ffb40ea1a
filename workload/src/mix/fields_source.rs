//! Fields as tables, for `serde`.

use super::{Alphabet, Choice, Field, Fields, FieldsError, RandomText};
use crate::traces::Trace;
use crate::values::{LoadError, Source};
use crate::{Keys, Values};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeMap;
use std::path::Path;

/// Fields as a file of settings has them, in which values may be in files of their own: nothing is read yet.
///
/// ```
/// use openloop_workload::mix::FieldsSource;
///
/// let source: FieldsSource = serde_json::from_str(r#"{"size": {"count": "empirical:sizes.csv"}}"#)?;
/// // Beside the file of settings, there is no sizes.csv.
/// let error = source.load("/nowhere".as_ref()).unwrap_err().to_string();
/// assert!(error.starts_with("the field \"size\": cannot open /nowhere/sizes.csv"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct FieldsSource(BTreeMap<String, Table>);

impl FieldsSource {
    /// The fields, with every file of values read; relative paths start at `folder`.
    ///
    /// # Errors
    /// When a name or a field is refused, or a file cannot be read or has a bad line; or values are those of a trace.
    pub fn load(&self, folder: &Path) -> Result<Fields, FieldsError> {
        self.load_with(folder, None)
    }

    /// The same, with the trace of which request number k has the k-th row: for values such as `trace:size`.
    ///
    /// # Errors
    /// As for [`load`](FieldsSource::load), and when a row of the trace has no number in the column.
    pub fn load_with(&self, folder: &Path, trace: Option<&Trace>) -> Result<Fields, FieldsError> {
        self.with(|source| source.load_with(folder, trace))
    }

    fn with(
        &self,
        load: impl Fn(&Source) -> Result<Values, LoadError>,
    ) -> Result<Fields, FieldsError> {
        let field = |(name, table): (&String, &Table)| match table.field(&load) {
            Ok(field) => Ok((name.clone(), field)),
            Err(error) => Err(FieldsError::Field {
                name: name.clone(),
                error: Box::new(error),
            }),
        };
        Fields::new(self.0.iter().map(field).collect::<Result<Vec<_>, _>>()?)
    }
}

/// As [`FieldsSource`], but a file is refused.
impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FieldsSource::deserialize(deserializer)?
            .with(|source| Ok(source.clone().ready()?))
            .map_err(de::Error::custom)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, field)| (name, Table::from(field))))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keys: Option<Keys>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<Source>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<Alphabet>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<Source>,
}

impl Table {
    fn field(
        &self,
        load: impl Fn(&Source) -> Result<Values, LoadError>,
    ) -> Result<Field, FieldsError> {
        let chosen = (&self.keys, &self.count, &self.choice, &self.text);
        let extra = (&self.weights, &self.length);
        match (chosen, extra) {
            ((Some(keys), None, None, None), (None, None)) => Ok(Field::Keys(*keys)),
            ((None, Some(count), None, None), (None, None)) => Ok(Field::Count(load(count)?)),
            ((None, None, Some(texts), None), (weights, None)) => choice(texts, weights.as_deref()),
            ((None, None, None, Some(alphabet)), (None, Some(length))) => {
                Ok(Field::Text(RandomText::new(*alphabet, load(length)?)?))
            }
            ((None, None, None, None), _) => Err(FieldsError::Form("none of them")),
            ((None, None, None, Some(_)), (None, None)) => {
                Err(FieldsError::Form("text without a length"))
            }
            _ => Err(FieldsError::Form(
                "several, or weights or a length with another",
            )),
        }
    }
}

fn choice(texts: &[String], weights: Option<&[f64]>) -> Result<Field, FieldsError> {
    let Some(weights) = weights else {
        return Ok(Field::Choice(Choice::new(texts)?));
    };
    if weights.len() != texts.len() {
        return Err(FieldsError::Weights {
            texts: texts.len(),
            weights: weights.len(),
        });
    }
    let weighted = texts.iter().zip(weights.iter().copied());
    Ok(Field::Choice(Choice::weighted(weighted)?))
}

impl From<&Field> for Table {
    fn from(field: &Field) -> Self {
        let mut table = Table::default();
        match field {
            Field::Keys(keys) => table.keys = Some(*keys),
            Field::Count(values) => table.count = Some(values.clone().into()),
            Field::Choice(choice) => {
                let (texts, weights): (Vec<&str>, Vec<f64>) = choice.texts().unzip();
                table.choice = Some(texts.into_iter().map(str::to_owned).collect());
                table.weights = Some(weights);
            }
            Field::Text(text) => {
                table.text = Some(text.alphabet());
                table.length = Some(text.length().clone().into());
            }
        }
        table
    }
}
