//! `--mix`: kinds of request from a file.

use super::requests::{Query, of_fields};
use crate::kinds::{self, Kinds};
use openloop_postgres::Request;
use openloop_workload::mix::FieldsSource;
use openloop_workload::traces::Trace;
use openloop_workload::{Fields, Keys};
use serde::Deserialize;
use std::path::Path;

/// Kinds of request, as a file says them.
pub(crate) type SqlMix = Kinds<SqlKind>;

/// What makes a request of one kind.
#[derive(Debug)]
pub(crate) struct SqlKind {
    queries: Vec<Query>,
    fields: Fields,
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

/// The kinds in `file`; see [`Kinds::read`].
///
/// # Errors
/// All that can be told without knowing the server: the message has the file and the kind.
pub(crate) fn read(file: &Path, trace: Option<&Trace>) -> Result<SqlMix, String> {
    Kinds::read(file, trace, |table: Table, folder| {
        SqlKind::new(table, folder, trace)
    })
}

impl SqlMix {
    pub(crate) fn request(&self, seed: u64, seq: u64) -> Request {
        let (_, kind) = self.pick(seed, seq);
        let kind = kind.payload();
        of_fields(&kind.queries, &kind.fields, seed, seq)
    }

    pub(crate) fn queries(&self) -> impl Iterator<Item = &Query> {
        let kinds = self.mix().kinds().iter();
        kinds.flat_map(|kind| &kind.payload().queries)
    }

    /// The keys in the fields of all kinds.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Keys> {
        let kinds = self.mix().kinds().iter();
        kinds.flat_map(|kind| kinds::keys_of(&kind.payload().fields))
    }

    /// Whether a kind is a transaction.
    pub(crate) fn has_transactions(&self) -> bool {
        let mut kinds = self.mix().kinds().iter();
        kinds.any(|kind| kind.payload().queries.len() > 1)
    }
}

impl SqlKind {
    fn new(table: Table, folder: &Path, trace: Option<&Trace>) -> Result<Self, String> {
        let fields = table
            .fields
            .load_with(folder, trace)
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
        let parameters = queries.iter().flat_map(Query::parameters);
        kinds::check_unused(&fields, parameters, "the query")?;
        Ok(SqlKind { queries, fields })
    }
}
