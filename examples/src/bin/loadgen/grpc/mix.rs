//! `--mix`: kinds of request from a file.

use crate::kinds::{self, Kinds};
use openloop_workload::mix::FieldsSource;
use openloop_workload::traces::Trace;
use openloop_workload::{Fields, Keys, Template};
use serde::Deserialize;
use std::path::Path;

/// Kinds of request, as a file says them.
pub(crate) type GrpcMix = Kinds<GrpcKind>;

/// What makes a request of one kind.
#[derive(Debug)]
pub(crate) struct GrpcKind {
    method: String,
    data: Template,
    fields: Fields,
}

/// A `[[kind]]`, but for its name, weight and demand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    method: String,
    #[serde(default = "nothing")]
    data: String,
    #[serde(default)]
    fields: FieldsSource,
}

fn nothing() -> String {
    "{}".to_owned()
}

/// The kinds in `file`. See [`Kinds::read`].
///
/// # Errors
/// What is wrong, with the file, the kind and the field.
pub(crate) fn read(file: &Path, trace: Option<&Trace>) -> Result<GrpcMix, String> {
    Kinds::read(file, trace, |table, folder| {
        GrpcKind::new(table, folder, trace)
    })
}

impl GrpcMix {
    /// The keys in the fields of all kinds.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Keys> {
        let kinds = self.mix().kinds().iter();
        kinds.flat_map(|kind| kinds::keys_of(&kind.payload().fields))
    }

    /// The methods of all kinds, in order.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &str> {
        let kinds = self.mix().kinds().iter();
        kinds.map(|kind| kind.payload().method())
    }
}

impl GrpcKind {
    fn new(table: Table, folder: &Path, trace: Option<&Trace>) -> Result<Self, String> {
        let fields = table.fields.load_with(folder, trace);
        let kind = GrpcKind {
            method: table.method,
            data: Template::new(table.data),
            fields: fields.map_err(|error| error.to_string())?,
        };
        kinds::check_places(&kind.fields, "data", &kind.data, |_| None)?;
        kinds::check_unused(&kind.fields, [&kind.data], "the data")?;
        Ok(kind)
    }

    /// The method that is called.
    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    /// Whether all requests of the kind are the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.fields.is_empty()
    }

    /// The message of request number `seq` of a run with this seed, in JSON.
    pub(crate) fn data(&self, seed: u64, seq: u64) -> String {
        self.fields.render(&self.data, seed, seq)
    }
}
