//! `--mix`: kinds of request from a file.

use super::requests::{Query, of_fields};
use openloop_postgres::Request;
use openloop_workload::mix::{Field, FieldsSource};
use openloop_workload::{Fields, Keys, Mix};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Kinds of request, as a file says them.
#[derive(Debug)]
pub(crate) struct SqlMix {
    file: PathBuf,
    mix: Mix<SqlKind>,
}

/// What makes a request of one kind.
#[derive(Debug)]
struct SqlKind {
    queries: Vec<Query>,
    fields: Fields,
}

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    kind: Mix<Table>,
}

/// A `[[kind]]`, but for its name, weight and demand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    query: Queries,
    #[serde(default)]
    fields: FieldsSource,
}

/// One statement, or those of a transaction.
#[derive(Deserialize)]
#[serde(untagged)]
enum Queries {
    One(String),
    Transaction(Vec<String>),
}

impl SqlMix {
    /// The kinds in `file`. Files of values are beside it.
    ///
    /// # Errors
    /// All that can be told without knowing the server: the message has the file and the kind.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let named = |why: String| format!("{}: {why}", file.display());
        let text = std::fs::read_to_string(file)
            .map_err(|error| named(format!("cannot be read: {error}")))?;
        let settings: Settings = toml::from_str(&text)
            .map_err(|error| named(error.to_string().trim_end().to_owned()))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let mix = settings.kind.try_map(|kind, table| {
            SqlKind::new(table, folder).map_err(|why| named(format!("the kind \"{kind}\": {why}")))
        })?;
        Ok(SqlMix {
            file: file.to_owned(),
            mix,
        })
    }

    pub(crate) fn request(&self, seed: u64, seq: u64) -> Request {
        let kind = self.mix.pick(seed, seq).payload;
        of_fields(&kind.queries, &kind.fields, seed, seq)
    }

    pub(crate) fn queries(&self) -> impl Iterator<Item = &Query> {
        let kinds = self.mix.kinds().iter();
        kinds.flat_map(|kind| &kind.payload().queries)
    }

    /// The keys in the fields of all kinds.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Keys> {
        let kinds = self.mix.kinds().iter();
        let fields = kinds.flat_map(|kind| kind.payload().fields.iter());
        fields.filter_map(|(_, field)| match field {
            Field::Keys(keys) => Some(keys),
            _ => None,
        })
    }

    /// Whether a kind is a transaction.
    pub(crate) fn has_transactions(&self) -> bool {
        let mut kinds = self.mix.kinds().iter();
        kinds.any(|kind| kind.payload().queries.len() > 1)
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        let kinds = self.mix.kinds().iter();
        kinds.map(openloop_workload::mix::Kind::name).collect()
    }

    /// Which kind request number `seq` is of.
    pub(crate) fn index(&self, seed: u64, seq: u64) -> usize {
        self.mix.pick(seed, seq).index
    }

    /// What there is and how much of it, in lines.
    pub(crate) fn describe(&self) -> (String, Vec<String>) {
        let head = format!(
            "the kinds of request in {}, by weight,",
            self.file.display()
        );
        (head, crate::shares::table(&self.mix))
    }
}

impl SqlKind {
    fn new(table: Table, folder: &Path) -> Result<Self, String> {
        let fields = table
            .fields
            .load(folder)
            .map_err(|error| error.to_string())?;
        let names: Vec<_> = fields.iter().map(|(name, _)| name).collect();
        let texts = match table.query {
            Queries::One(text) => vec![text],
            Queries::Transaction(texts) => texts,
        };
        if texts.is_empty() {
            return Err("query = [] asks for nothing: write a statement, or several".to_owned());
        }
        let queries: Vec<_> = texts
            .iter()
            .map(|text| Query::new(text, &names))
            .collect::<Result<_, String>>()?;
        let unused = fields.unused(queries.iter().flat_map(Query::parameters));
        if let [unused, ..] = unused.as_slice() {
            return Err(format!(
                "the field \"{unused}\" stands nowhere: write {{{unused}}} in the query, or leave it out"
            ));
        }
        Ok(SqlKind { queries, fields })
    }
}
