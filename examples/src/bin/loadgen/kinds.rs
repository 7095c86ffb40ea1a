//! `--keys` and `--mix`, as far as they are the same for every protocol.

use openloop_workload::mix::Field;
use openloop_workload::{Fields, Mix, Template};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// The laws of `--keys`, for `--help`.
pub(crate) const KEYS: &str = "\
Keys are the whole numbers from 1 to N, which may be written as 1e6:
  uniform:N                  all equally often, at random
  sequential:N               in turn, again and again
  zipf:N:S                   few hot and many cold: key k as often as 1/k^S, zipf:1e6:0.99
  zipf:N:SHARE/TOP           the same by what it does: zipf:1e6:80/20 is 80 % of the requests on 20 % of the keys
  hotspot:N:HOT:SHARE        the fraction HOT of the keys takes the fraction SHARE of the requests: hotspot:1e6:0.2:0.8
  latest:N:S:INSERTS         the newest are the hottest, and each request brings INSERTS new ones: latest:1e6:0.99:0.05
  LAW:drift=STEP/EVERY       the hot keys move on by STEP after every EVERY requests: zipf:1e6:0.99:drift=10/5000
  LAW:scrambled              the hot keys lie anywhere, not at the beginning; after a drift; =SEED for other places
See what they are before the run: loadgen sample keys zipf:1e6:0.99";

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "T: DeserializeOwned")]
struct Settings<T> {
    kind: Mix<T>,
}

/// The kinds in `file`: `make` makes one of a `[[kind]]`, but for its name, weight and demand. Its second argument is the
/// folder that other files are beside.
///
/// # Errors
/// What is wrong, with the file, the kind and the field.
pub(crate) fn read<T: DeserializeOwned, K>(
    file: &Path,
    mut make: impl FnMut(T, &Path) -> Result<K, String>,
) -> Result<Mix<K>, String> {
    let named = |why: String| format!("{}: {why}", file.display());
    let text =
        std::fs::read_to_string(file).map_err(|error| named(format!("cannot be read: {error}")))?;
    let settings: Settings<T> =
        toml::from_str(&text).map_err(|error| named(error.to_string().trim_end().to_owned()))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    settings.kind.try_map(|kind, table| {
        make(table, folder).map_err(|why| named(format!("the kind \"{kind}\": {why}")))
    })
}

/// Whether the kinds in `file` have this setting: it tells for which protocol they are.
#[cfg(feature = "redis")]
pub(crate) fn have(file: &Path, setting: &str) -> bool {
    let table = std::fs::read_to_string(file)
        .ok()
        .and_then(|text| text.parse::<toml::Table>().ok());
    let kinds = table
        .as_ref()
        .and_then(|table| table.get("kind")?.as_array());
    kinds
        .into_iter()
        .flatten()
        .any(|kind| kind.get(setting).is_some())
}

/// Every place must be a field's, and of a choice every text must be right where it is put: `unfit` says what it
/// cannot be a part of.
///
/// # Errors
/// What is wrong and what to write.
pub(crate) fn check_places(
    fields: &Fields,
    part: &str,
    template: &Template,
    unfit: impl Fn(&str) -> Option<&'static str>,
) -> Result<(), String> {
    for place in template.places() {
        let Some((_, field)) = fields.iter().find(|(name, _)| *name == place) else {
            let known: Vec<_> = fields.iter().map(|(name, _)| name).collect();
            let known = match known.as_slice() {
                [] => "there are none".to_owned(),
                known => format!("there are {}", known.join(", ")),
            };
            return Err(format!(
                "{part} has the place {{{place}}} and no field is called so ({known}): add it, or, if the braces are meant as they are, add {place} = {{ choice = [\"{{{place}}}\"] }}"
            ));
        };
        let Field::Choice(choice) = field else {
            continue;
        };
        for (text, _) in choice.texts() {
            if let Some(what) = unfit(text) {
                return Err(format!(
                    "the field \"{place}\" puts \"{}\" into {part}, which is no part of {what}",
                    text.escape_debug()
                ));
            }
        }
    }
    Ok(())
}

/// A field that stands nowhere is mostly a misspelt place; `parts` says where it could stand.
///
/// # Errors
/// The first of them.
pub(crate) fn check_unused<'a>(
    fields: &Fields,
    templates: impl IntoIterator<Item = &'a Template>,
    parts: &str,
) -> Result<(), String> {
    match fields.unused(templates).as_slice() {
        [] => Ok(()),
        [unused, ..] => Err(format!(
            "the field \"{unused}\" stands nowhere: write {{{unused}}} in {parts}, or leave it out"
        )),
    }
}
