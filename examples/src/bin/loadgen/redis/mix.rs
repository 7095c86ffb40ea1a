//! `--mix`: kinds of request from a file.

use super::command::{self, Command};
use crate::kinds::{self, Kinds};
use openloop_redis::{Request, RequestError};
use openloop_workload::mix::FieldsSource;
use openloop_workload::traces::Trace;
use openloop_workload::{Fields, Keys};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Kinds of request, as a file says them.
pub(crate) type RedisMix = Kinds<RedisKind>;

/// What makes a request of one kind.
#[derive(Debug)]
pub(crate) struct RedisKind {
    command: Command,
    fields: Fields,
}

/// A `[[kind]]`, but for its name, weight and demand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    command: String,
    /// A file beside this one.
    script: Option<PathBuf>,
    #[serde(default)]
    fields: FieldsSource,
}

/// The kinds in `file`; scripts are beside it. See [`Kinds::read`].
///
/// # Errors
/// What is wrong, with the file, the kind and the field.
pub(crate) fn read(file: &Path, trace: Option<&Trace>) -> Result<RedisMix, String> {
    Kinds::read(file, trace, |table, folder| {
        RedisKind::new(table, folder, trace)
    })
}

impl RedisMix {
    /// The keys in the fields of all kinds.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Keys> {
        let kinds = self.mix().kinds().iter();
        kinds.flat_map(|kind| kinds::keys_of(&kind.payload().fields))
    }
}

impl RedisKind {
    fn new(table: Table, folder: &Path, trace: Option<&Trace>) -> Result<Self, String> {
        let script = table.script.map(|file| command::script(&folder.join(file)));
        let fields = table.fields.load_with(folder, trace);
        let kind = RedisKind {
            command: Command::parse(&table.command, script.transpose()?)?,
            fields: fields.map_err(|error| error.to_string())?,
        };
        for word in kind.command.templates() {
            kinds::check_places(&kind.fields, "command", word, |_| None)?;
        }
        kinds::check_unused(&kind.fields, kind.command.templates(), "the command")?;
        kind.request(0, 0).map_err(|error| error.to_string())?;
        Ok(kind)
    }

    /// Whether all requests of the kind are the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.fields.is_empty()
    }

    /// The words of request number `seq`, for people.
    pub(crate) fn words(&self, seed: u64, seq: u64) -> String {
        let words = self.command.templates().iter();
        let words = words.map(|word| self.fields.render(word, seed, seq));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Request number `seq` of a run with this seed.
    ///
    /// # Errors
    /// When the words make no request.
    pub(crate) fn request(&self, seed: u64, seq: u64) -> Result<Request, RequestError> {
        self.command
            .request(|word| self.fields.render(word, seed, seq))
    }
}
