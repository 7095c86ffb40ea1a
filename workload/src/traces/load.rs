//! Reading a trace, line by line.

use std::collections::HashSet;
use std::io::BufRead;
use std::sync::Arc;

use super::error::excerpt;
use super::format::Column;
use super::record::{self, Lines, Record};
use super::time::{civil, decimal};
use super::trace::Trace;
use super::{Format, TraceError, TraceRequest};

const COUNT: &str = "a whole number from 0 on, such as 4808";
const DECIMAL: &str = "a decimal from 0 to 9.2e18 nanoseconds, such as 61.114";
const CIVIL: &str = "a civil time, such as 2023-11-16 18:17:03.9799600";
const ID: &str = "a whole number from 0 on, or -1 for none";
const HASHES: &str = "a JSON array of whole numbers from 0 on, such as [46, 47]";

/// Reads all of a trace.
pub(super) fn load(reader: impl BufRead, format: Option<Format>) -> Result<Trace, TraceError> {
    let mut lines = Lines::new(reader);
    // Only a plain trace has comments, and a file that starts with one can be of no other format.
    let comments = format.is_none_or(|format| format == Format::Plain);
    let Some((number, first)) = lines.next(comments)? else {
        return Err(TraceError::Empty);
    };
    let format = format.map_or_else(|| Format::detect(first), Ok)?;
    let mut rows = Rows::new(format);
    if format.is_json() {
        rows.object(number, first)?;
        while let Some((number, line)) = lines.next(false)? {
            rows.object(number, line)?;
        }
    } else {
        rows.header(number, first)?;
        while let Some((number, line)) = lines.next(format == Format::Plain)? {
            rows.record(number, line)?;
        }
    }
    Ok(Trace::from_instants(
        format,
        rows.requests,
        &rows.instants,
        rows.rounded,
    ))
}

/// The rows read so far.
struct Rows {
    format: Format,
    /// Of a CSV file: the name and meaning of each column.
    columns: Vec<(Arc<str>, Option<Column>)>,
    record: Record,
    requests: Vec<TraceRequest>,
    /// When each request came, in nanoseconds since the zero of the file.
    instants: Vec<i64>,
    rounded: u64,
    texts: Texts,
}

/// What one row tells.
struct Row {
    request: TraceRequest,
    instant: Option<i64>,
    exact: bool,
}

impl Rows {
    fn new(format: Format) -> Self {
        Rows {
            format,
            columns: Vec::new(),
            record: Record::default(),
            requests: Vec::new(),
            instants: Vec::new(),
            rounded: 0,
            texts: Texts::default(),
        }
    }

    fn header(&mut self, line: u64, text: &str) -> Result<(), TraceError> {
        self.split(line, text)?;
        let names: Vec<_> = (self.record.fields())
            .map(|name| name.trim().to_owned())
            .collect();
        self.check(line, text, &names)?;
        for name in names {
            let column = self.format.column(&name);
            let alike = |(known, other): &(Arc<str>, Option<Column>)| {
                known.eq_ignore_ascii_case(&name)
                    || (other.is_some_and(Column::is_time) && column.is_some_and(Column::is_time))
            };
            if let Some((known, _)) = self.columns.iter().find(|known| alike(known)) {
                return Err(TraceError::Line {
                    line,
                    expected: "a header that names each thing once",
                    reason: format!("\"{known}\" and \"{name}\" are the same"),
                });
            }
            self.columns.push((name.into(), column));
        }
        Ok(())
    }

    fn check(&self, line: u64, text: &str, names: &[String]) -> Result<(), TraceError> {
        match self.format.missing(names) {
            None => Ok(()),
            Some(column) => Err(TraceError::Missing {
                line,
                column,
                format: self.format,
                found: excerpt(text),
            }),
        }
    }

    fn split(&mut self, line: u64, text: &str) -> Result<(), TraceError> {
        self.record.split(text).map_err(|reason| TraceError::Line {
            line,
            expected: "comma-separated fields",
            reason: reason.to_owned(),
        })
    }

    fn record(&mut self, line: u64, text: &str) -> Result<(), TraceError> {
        self.split(line, text)?;
        if self.record.len() != self.columns.len() {
            return Err(TraceError::Fields {
                line,
                found: self.record.len(),
                expected: self.columns.len(),
            });
        }
        let mut row = Row::new(line);
        for ((name, column), field) in self.columns.iter().zip(self.record.fields()) {
            let field = field.trim();
            match column {
                // Only of a plain trace may some rows tell more than others.
                Some(column)
                    if field.is_empty() && self.format == Format::Plain && !column.is_time() => {}
                Some(column) => row
                    .set(*column, field, &mut self.texts)
                    .map_err(|expected| bad_field(line, name, field, expected))?,
                None => row
                    .request
                    .other
                    .push((Arc::clone(name), self.texts.get(field))),
            }
        }
        self.push(row, text)
    }

    fn object(&mut self, line: u64, text: &str) -> Result<(), TraceError> {
        let pairs = record::object(text).map_err(|error| TraceError::Line {
            line,
            expected: "a JSON object",
            // serde_json has seen this line alone, as its first.
            reason: error
                .to_string()
                .replace(" at line 1 column ", " in column "),
        })?;
        let mut row = Row::new(line);
        let mut names = Vec::with_capacity(pairs.len());
        for (name, value) in pairs {
            if (names.iter()).any(|known: &String| known.eq_ignore_ascii_case(&name)) {
                return Err(TraceError::Line {
                    line,
                    expected: "a JSON object",
                    reason: format!("it has two values for \"{name}\""),
                });
            }
            let raw = value.get();
            // Text without its quotation marks and escapes; everything else as it is written.
            let is_text = raw.starts_with('"');
            let unquoted = is_text.then(|| serde_json::from_str::<String>(raw));
            let unquoted = unquoted.and_then(Result::ok);
            let field = unquoted.as_deref().unwrap_or(raw);
            match self.format.column(&name) {
                Some(_) if raw == "null" => {}
                Some(column) => row
                    .set(column, field.trim(), &mut self.texts)
                    .map_err(|expected| bad_field(line, &name, field, expected))?,
                None => row
                    .request
                    .other
                    .push((self.texts.get(&name), self.texts.get(field))),
            }
            names.push(name);
        }
        self.check(line, text, &names)?;
        self.push(row, text)
    }

    fn push(&mut self, row: Row, text: &str) -> Result<(), TraceError> {
        let missing = |column| TraceError::Missing {
            line: row.request.line,
            column,
            format: self.format,
            found: excerpt(text),
        };
        // A key that is there with null for a value.
        let instant = row.instant.ok_or_else(|| missing("timestamp"))?;
        if self.format != Format::Plain {
            row.request
                .input_tokens
                .ok_or_else(|| missing("input length"))?;
            row.request
                .output_tokens
                .ok_or_else(|| missing("output length"))?;
        }
        self.rounded += u64::from(!row.exact);
        self.instants.push(instant);
        self.requests.push(row.request);
        Ok(())
    }
}

impl Row {
    fn new(line: u64) -> Self {
        let mut request = TraceRequest::at(0);
        request.line = line;
        Row {
            request,
            instant: None,
            exact: true,
        }
    }

    /// Takes a field; if it is not what the column holds, says what that is.
    fn set(&mut self, column: Column, field: &str, texts: &mut Texts) -> Result<(), &'static str> {
        let request = &mut self.request;
        match column {
            Column::Civil => {
                let (nanos, exact) = civil(field).ok_or(CIVIL)?;
                (self.instant, self.exact) = (Some(nanos), exact);
            }
            Column::Decimal(exponent) => {
                let (nanos, exact) = decimal(field, exponent).ok_or(DECIMAL)?;
                let nanos = i64::try_from(nanos).map_err(|_| DECIMAL)?;
                (self.instant, self.exact) = (Some(nanos), exact);
            }
            Column::Kind => request.kind = texts.some(field),
            Column::Session => request.session = texts.some(field),
            Column::Input => request.input_tokens = Some(count(field)?),
            Column::Output => request.output_tokens = Some(count(field)?),
            Column::Size => request.size = Some(count(field)?),
            Column::Turn => request.turn = Some(count(field)?),
            Column::Id => request.id = id(field)?,
            Column::Parent => request.parent = id(field)?,
            Column::Hashes => {
                request.hash_ids = serde_json::from_str(field).map_err(|_| HASHES)?;
            }
        }
        Ok(())
    }
}

/// A number of tokens or bytes; `4808.0`, as some tools write it, is whole as well.
fn count(field: &str) -> Result<u64, &'static str> {
    match decimal(field, 0) {
        Some((count, true)) => Ok(count),
        _ => Err(COUNT),
    }
}

fn id(field: &str) -> Result<Option<u64>, &'static str> {
    match field {
        "-1" => Ok(None),
        _ => count(field).map(Some).map_err(|_| ID),
    }
}

fn bad_field(line: u64, column: &str, found: &str, expected: &'static str) -> TraceError {
    TraceError::Field {
        line,
        column: column.to_owned(),
        found: excerpt(found),
        expected,
    }
}

/// Texts that come again and again, such as the name of a model, kept once.
#[derive(Default)]
struct Texts(HashSet<Arc<str>>);

impl Texts {
    /// So many different texts are kept; those of a trace with more, such as one per session, are not looked up.
    const MOST: usize = 65_536;

    fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        if self.0.len() < Self::MOST {
            self.0.insert(Arc::clone(&new));
        }
        new
    }

    /// Nothing for an empty text.
    fn some(&mut self, text: &str) -> Option<Arc<str>> {
        (!text.is_empty()).then(|| self.get(text))
    }
}
