//! Named places and what fills them.

use super::{Field, FieldsError};
use crate::Template;
use crate::seed::named;
use crate::template::is_name;

/// What fills the named places of a request's templates: `{user}` by keys, `{size}` by values.
///
/// Every field draws from a seed of its own, [`named`] after it: a rare user does not always come with a large size,
/// and one more field changes none of the others. A name stands for the same text in every place of a request.
///
/// With `serde` it is a table of tables:
///
/// ```
/// use openloop_workload::{Fields, Template};
///
/// let fields: Fields = serde_json::from_str(r#"{
///     "user": {"keys": "uniform:1000"},
///     "size": {"count": "lognormal:p50=180,p99=900"},
///     "verb": {"choice": ["get", "put"], "weights": [9, 1]},
///     "body": {"text": "hex", "length": "fixed:8"}
/// }"#)?;
/// let body = Template::new(r#"{"id": {user}, "verb": "{verb}", "body": "{body}"}"#);
/// let (seed, seq) = (7, 41);
/// assert_eq!(fields.render(&body, seed, seq), r#"{"id": 826, "verb": "get", "body": "d7f43999"}"#);
/// assert_eq!(fields.unused([&body]), ["size"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// In alphabetical order. There are few: to compare them in turn is faster than a tree.
    fields: Vec<(String, Field)>,
}

impl Fields {
    /// These fields by their names.
    ///
    /// # Errors
    /// When a name is not of up to 64 letters, digits, `.`, `-` and `_` (all of ASCII), or comes twice.
    pub fn new<S: Into<String>>(
        fields: impl IntoIterator<Item = (S, Field)>,
    ) -> Result<Self, FieldsError> {
        let mut fields: Vec<(String, Field)> = fields
            .into_iter()
            .map(|(name, field)| (name.into(), field))
            .collect();
        fields.sort_by(|(one, _), (other, _)| one.cmp(other));
        if let Some((name, _)) = fields.iter().find(|(name, _)| !is_name(name)) {
            return Err(FieldsError::Name(name.clone()));
        }
        if let Some(twice) = fields.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(FieldsError::Duplicate(twice[0].0.clone()));
        }
        Ok(Fields { fields })
    }

    fn get(&self, name: &str) -> Option<&Field> {
        self.fields
            .iter()
            .find(|(of, _)| of == name)
            .map(|(_, field)| field)
    }

    /// The template with its places filled for request number `seq` of a run with this seed.
    ///
    /// A place whose name is no field's stays as it is written. One allocation.
    #[must_use]
    pub fn render(&self, template: &Template, seed: u64, seq: u64) -> String {
        let mut capacity = template.text().len();
        for name in template.places() {
            if let Some(field) = self.get(name) {
                capacity += field.capacity(|| named(seed, name), seq);
            }
        }
        let mut rendered = String::with_capacity(capacity);
        self.render_into(template, seed, seq, &mut rendered);
        rendered
    }

    /// The same, appended to a text whose memory is used again.
    pub fn render_into(&self, template: &Template, seed: u64, seq: u64, out: &mut String) {
        template.fill(out, |name, out| match self.get(name) {
            Some(field) => {
                field.push(named(seed, name), seq, out);
                true
            }
            None => false,
        });
    }

    /// The text of one field for request number `seq`; `None` where no field has the name.
    #[must_use]
    pub fn text(&self, name: &str, seed: u64, seq: u64) -> Option<String> {
        let mut text = String::new();
        self.get(name)?.push(named(seed, name), seq, &mut text);
        Some(text)
    }

    /// The names of the fields that none of these templates has a place for, in alphabetical order.
    ///
    /// Mostly a misspelt place: say so before the run.
    #[must_use]
    pub fn unused<'a>(&self, templates: impl IntoIterator<Item = &'a Template>) -> Vec<&str> {
        let mut unused: Vec<_> = self.iter().map(|(name, _)| name).collect();
        for template in templates {
            unused.retain(|name| !template.has(name));
        }
        unused
    }

    /// The fields by their names, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Field)> {
        self.fields
            .iter()
            .map(|(name, field)| (name.as_str(), field))
    }

    /// Whether there is no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}
