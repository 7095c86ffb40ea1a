//! `--keys` and `--mix`, as far as they are the same for every protocol.

use crate::arrivals::Replay;
use crate::cli::LoadArgs;
use crate::shares;
use openloop_workload::mix::{Field, Kind};
use openloop_workload::traces::{Trace, TraceRequest};
use openloop_workload::{Fields, Keys, Mix, Template};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// Kinds of request, as a file says them.
#[derive(Debug)]
pub(crate) struct Kinds<T> {
    file: PathBuf,
    mix: Mix<T>,
    choice: Choice,
}

/// What says of which kind a request is.
#[derive(Debug)]
enum Choice {
    /// Chance, by the weights.
    Weights,
    /// The same, though there is a trace with kinds, of which these are some.
    WeightsBeside(Arc<str>),
    /// The rows of a trace: of each request the place of its kind.
    Rows(Box<[usize]>),
}

impl<K> Kinds<K> {
    /// The kinds in `file`: `make` makes one of a `[[kind]]`, but for its name, weight and demand. Its second argument is
    /// the folder that other files are beside. Request number k replays row k of `trace`, and is of the kind that the
    /// row names, where the trace has kinds of these names.
    ///
    /// # Errors
    /// What is wrong, with the file, the kind and the field.
    pub(crate) fn read<T: DeserializeOwned>(
        file: &Path,
        trace: Option<&Trace>,
        mut make: impl FnMut(T, &Path) -> Result<K, String>,
    ) -> Result<Self, String> {
        let named = |why: String| format!("{}: {why}", file.display());
        let text = std::fs::read_to_string(file)
            .map_err(|error| named(format!("cannot be read: {error}")))?;
        let settings: Settings<T> =
            toml::from_str(&text).map_err(|error| match error.to_string() {
                // It shows the line, of which nobody reads as much.
                long if long.len() > 2000 => named(error.message().to_owned()),
                told => named(told.trim_end().to_owned()),
            })?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let mix = settings.kind.try_map(|kind, table| {
            make(table, folder).map_err(|why| named(format!("the kind \"{kind}\": {why}")))
        })?;
        let kinds = Kinds {
            file: file.to_owned(),
            mix,
            choice: Choice::Weights,
        };
        match trace {
            Some(trace) => kinds.following(trace),
            None => Ok(kinds),
        }
    }

    /// The same kinds as `trace` asks for them: row by row, if its rows have kinds of these names, else by weight.
    fn following(mut self, trace: &Trace) -> Result<Self, String> {
        let place = |row: &TraceRequest| {
            let name = row.kind.as_deref()?;
            self.mix.kinds().iter().position(|kind| kind.name() == name)
        };
        let rows: Vec<_> = trace.requests().iter().map(place).collect();
        if rows.iter().all(Option::is_none) {
            let named = trace.requests().iter().find_map(|row| row.kind.clone());
            self.choice = named.map_or(Choice::Weights, Choice::WeightsBeside);
            return Ok(self);
        }
        let Some(rows) = rows.iter().copied().collect::<Option<Box<[_]>>>() else {
            let strange = rows
                .iter()
                .zip(trace.requests())
                .find(|(place, _)| place.is_none());
            return Err(self.no_kind_of(strange.map(|(_, row)| row)));
        };
        let mut counts = vec![0_u64; self.mix.kinds().len()];
        rows.iter().for_each(|&kind| counts[kind] += 1);
        let mut counts = counts.into_iter();
        let as_counted = |_: &str| counts.next().unwrap_or_default() as f64;
        self.mix = self
            .mix
            .reweighted(as_counted)
            .map_err(|error| error.to_string())?;
        self.choice = Choice::Rows(rows);
        Ok(self)
    }

    fn no_kind_of(&self, row: Option<&TraceRequest>) -> String {
        let kinds: Vec<_> = self.mix.kinds().iter().map(Kind::name).collect();
        let what = match row.and_then(|row| row.kind.as_deref()) {
            Some(kind) => format!("asks for \"{kind}\""),
            None => "has no kind".to_owned(),
        };
        format!(
            "{}: line {} of the trace {what}, and others ask for kinds of the mix: give every row one of {}, or leave the column out, so that the weights choose",
            self.file.display(),
            row.map_or(0, |row| row.line),
            kinds.join(", ")
        )
    }

    /// What says of which kind a request is, in words.
    pub(crate) fn chosen(&self) -> String {
        match &self.choice {
            Choice::Weights => "by weight".to_owned(),
            Choice::WeightsBeside(kind) => {
                format!("by weight, as none of them is one of the trace (such as \"{kind}\")")
            }
            Choice::Rows(_) => "as the trace names them".to_owned(),
        }
    }

    /// The kind of request number `seq`, and its place.
    pub(crate) fn pick(&self, seed: u64, seq: u64) -> (usize, &Kind<K>) {
        let place = match &self.choice {
            Choice::Rows(rows) => usize::try_from(seq).ok().and_then(|row| rows.get(row)),
            Choice::Weights | Choice::WeightsBeside(_) => None,
        };
        let place = place.map_or_else(|| self.mix.pick(seed, seq).index, |&place| place);
        (place, &self.mix.kinds()[place])
    }

    pub(crate) fn mix(&self) -> &Mix<K> {
        &self.mix
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.mix.kinds().iter().map(Kind::name)
    }

    /// What is sent, where to, and below it the shares of the kinds.
    pub(crate) fn describe(&self, to: &str) -> String {
        let (file, chosen) = (self.file.display(), self.chosen());
        let head = format!("the kinds of request in {file}, {chosen}, {to}");
        let lines = std::iter::once(head).chain(shares::table(&self.mix));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The rows of a trace that requests replay: it has one for each arrival, and none for the later requests of a session.
pub(crate) fn rows<'a>(replay: Option<&'a Replay>, load: &LoadArgs) -> Option<&'a Trace> {
    let rows = replay.and_then(|replay| replay.rows.as_ref());
    rows.filter(|_| load.schedule.sessions.is_none())
}

/// The keys in fields.
pub(crate) fn keys_of(fields: &Fields) -> impl Iterator<Item = &Keys> {
    fields.iter().filter_map(|(_, field)| match field {
        Field::Keys(keys) => Some(keys),
        _ => None,
    })
}

/// Refuses keys whose place in time is the number of their request, which in sessions it is not.
pub(crate) fn check_order<'a>(
    keys: impl IntoIterator<Item = &'a Keys>,
    load: &LoadArgs,
) -> Result<(), String> {
    if load.schedule.sessions.is_none() {
        return Ok(());
    }
    match keys.into_iter().find(|keys| keys.is_ordered()) {
        None => Ok(()),
        Some(keys) => Err(format!(
            "the keys {keys} follow the order of requests, and those of --sessions have none before they are sent: take uniform, zipf or hotspot keys without a drift"
        )),
    }
}

/// Whether the kinds in `file` have this setting: it tells for which protocol they are.
#[cfg(any(feature = "grpc", feature = "redis"))]
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
