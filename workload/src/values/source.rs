//! Values as text.

use super::parameters::{Bounds, COLUMN, EMPIRICAL, Form, Parameters, SEQUENCE, parameters};
use super::{CsvError, Empirical, Sequence, Values, ValuesError};
use crate::number::Real;
use crate::traces::{ColumnError, Trace};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Values, or the file or the column of a trace that they are to be read from: what a text or a file of settings says,
/// with nothing read yet.
///
/// `trace:COLUMN` are the numbers that a trace has in that column ([`Trace::column`]), row by row as a [`Sequence`]:
/// the request that replays a row has the size of that row.
///
/// ```
/// use openloop_workload::traces::Trace;
/// use openloop_workload::values::Source;
///
/// let source: Source = "empirical:sizes.csv,max=65536".parse()?;
/// assert_eq!(source.file(), Some("sizes.csv".as_ref()));
///
/// let recorded: Source = "trace:size,max=65536".parse()?;
/// let trace = Trace::read("offset,size\n0,512\n1,100000\n".as_bytes())?;
/// let sizes = recorded.load_with("".as_ref(), Some(&trace))?;
/// assert_eq!([sizes.count(7, 0), sizes.count(7, 1)], [512, 65536]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Source(pub(super) Origin);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Origin {
    Values(Values),
    File { path: PathBuf, bounds: Bounds },
    Column { name: String, bounds: Bounds },
}

impl Source {
    /// The values; where they are in a file, it is read now. A relative path starts at `folder`.
    ///
    /// # Errors
    /// When the file cannot be read, has a bad line, or holds no value; or the values are those of a trace.
    pub fn load(&self, folder: &Path) -> Result<Values, LoadError> {
        self.load_with(folder, None)
    }

    /// The same, with the trace of which request number k has the k-th row.
    ///
    /// # Errors
    /// As for [`load`](Source::load), and when a row of the trace has no number in the column.
    pub fn load_with(&self, folder: &Path, trace: Option<&Trace>) -> Result<Values, LoadError> {
        match &self.0 {
            Origin::Values(values) => Ok(values.clone()),
            Origin::File { path, bounds } => {
                let path = folder.join(path);
                let read = |error| LoadError::Open(path.clone(), error);
                let reader = BufReader::new(File::open(&path).map_err(read)?);
                let values = Empirical::from_csv(reader)
                    .map_err(|error| LoadError::Csv(path.clone(), error))?;
                Ok(bounds.apply(Values::Empirical(values))?)
            }
            Origin::Column { name, bounds } => {
                let trace = trace.ok_or_else(|| ValuesError::InTrace(name.clone()))?;
                let values = Sequence::new(trace.column(name)?)?;
                Ok(bounds.apply(Values::Sequence(values))?)
            }
        }
    }

    /// The file, if the values are in one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.0 {
            Origin::Values(_) | Origin::Column { .. } => None,
            Origin::File { path, .. } => Some(path),
        }
    }

    pub(crate) fn ready(self) -> Result<Values, ValuesError> {
        match self.0 {
            Origin::Values(values) => Ok(values),
            Origin::File { path, .. } => Err(ValuesError::InFile(path)),
            Origin::Column { name, .. } => Err(ValuesError::InTrace(name)),
        }
    }

    pub(super) fn in_file(path: PathBuf, bounds: Bounds) -> Result<Self, ValuesError> {
        bounds.check()?;
        Ok(Source(Origin::File { path, bounds }))
    }

    pub(super) fn in_trace(name: String, bounds: Bounds) -> Result<Self, ValuesError> {
        bounds.check()?;
        Ok(Source(Origin::Column { name, bounds }))
    }
}

impl From<Values> for Source {
    fn from(values: Values) -> Self {
        Source(Origin::Values(values))
    }
}

/// Why values cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be opened.
    #[error("cannot open {path}: {error}", path = .0.display(), error = .1)]
    Open(PathBuf, #[source] io::Error),
    /// The file is not one of values.
    #[error("{path}: {error}", path = .0.display(), error = .1)]
    Csv(PathBuf, #[source] CsvError),
    /// The trace does not have a number in each row.
    #[error(transparent)]
    Column(#[from] ColumnError),
    /// The text is of no law.
    #[error(transparent)]
    Values(#[from] ValuesError),
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (law, bounds, name, parameters) = parameters(self);
        write!(f, "{name}:")?;
        if let Values::Empirical(law) = law {
            for (i, (value, count)) in law.counts().enumerate() {
                let comma = if i == 0 { "" } else { "," };
                write!(f, "{comma}{}x{count}", Real(value))?;
            }
        }
        if let Values::Sequence(law) = law {
            for (i, value) in law.values().iter().enumerate() {
                let comma = if i == 0 { "" } else { "," };
                write!(f, "{comma}{}", Real(*value))?;
            }
        }
        // One parameter needs no name.
        match parameters.as_slice() {
            [(_, value)] => write!(f, "{}", Real(*value))?,
            several => write_named(f, "", several)?,
        }
        write_named(f, ",", &bounds.named())
    }
}

fn write_named(f: &mut fmt::Formatter<'_>, first: &str, named: &[(String, f64)]) -> fmt::Result {
    for (i, (name, value)) in named.iter().enumerate() {
        let before = if i == 0 { first } else { "," };
        write!(f, "{before}{name}={}", Real(*value))?;
    }
    Ok(())
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Origin::Values(values) => values.fmt(f),
            Origin::File { path, bounds } => {
                write!(f, "{}:{}", EMPIRICAL.law, path.display())?;
                write_named(f, ",", &bounds.named())
            }
            Origin::Column { name, bounds } => {
                write!(f, "{}:{name}", COLUMN.law)?;
                write_named(f, ",", &bounds.named())
            }
        }
    }
}

/// The forms that [`Values`] lists. A file is refused, for parsing does not read it: [`Values::load`] does.
impl FromStr for Values {
    type Err = ValuesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<Source>()?.ready()
    }
}

/// The forms that [`Values`] lists, `empirical:FILE` among them, and `trace:COLUMN`.
impl FromStr for Source {
    type Err = ValuesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || ValuesError::Unknown(text.to_owned());
        let (law, rest) = text.trim().split_once(':').ok_or_else(unknown)?;
        let (law, rest) = (law.trim(), rest.trim());
        if let Some(measured) = [EMPIRICAL, SEQUENCE, COLUMN]
            .into_iter()
            .find(|form| form.law == law)
        {
            return measured_as(&measured, rest);
        }
        let mut parameters = Parameters::default();
        for part in rest.split([',', ':']).filter(|_| !rest.is_empty()) {
            parameters.0.push(match part.split_once('=') {
                Some((name, value)) => (Some(name.trim().to_owned()), number(name.trim(), value)?),
                None => (None, number("a parameter", part)?),
            });
        }
        match parameters.build(law) {
            Err(ValuesError::Unknown(_)) => Err(unknown()),
            built => Ok(built?.into()),
        }
    }
}

/// Values, or where they are, and bounds.
fn measured_as(form: &Form, mut text: &str) -> Result<Source, ValuesError> {
    let mut parameters = Parameters::default();
    while let Some((before, bound)) = text.rsplit_once(',') {
        let Some((name, value)) = bound.split_once('=') else {
            break;
        };
        let name = name.trim();
        if name != "min" && name != "max" {
            break;
        }
        parameters
            .0
            .push((Some(name.to_owned()), number(name, value)?));
        text = before.trim_end();
    }
    let bounds = parameters.bounds();
    parameters.finish(form)?;
    if text.is_empty() {
        return Err(ValuesError::Empty);
    }
    if form.law == COLUMN.law {
        return Source::in_trace(text.to_owned(), bounds);
    }
    if form.law == SEQUENCE.law {
        let values: Result<Vec<_>, _> = text.split(',').map(|one| number("a value", one)).collect();
        let law = Sequence::new(values?)?;
        return Ok(bounds.apply(Values::Sequence(law))?.into());
    }
    // VALUExCOUNT,VALUE,… or the path of a file.
    let entries: Option<Vec<_>> = text.split(',').map(entry).collect();
    match entries {
        Some(entries) => Ok(bounds
            .apply(Values::Empirical(Empirical::with_counts(entries)?))?
            .into()),
        None => Source::in_file(PathBuf::from(text), bounds),
    }
}

fn entry(text: &str) -> Option<(f64, u64)> {
    let (value, count) = match text.split_once('x') {
        Some((value, count)) => (value, count.trim().parse().ok()?),
        None => (text, 1),
    };
    Some((value.trim().parse().ok()?, count))
}

fn number(name: &str, text: &str) -> Result<f64, ValuesError> {
    text.trim().parse().map_err(|_| ValuesError::NotANumber {
        name: name.to_owned(),
        text: text.trim().to_owned(),
    })
}
