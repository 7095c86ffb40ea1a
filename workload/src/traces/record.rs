//! One line of a trace, split into its fields.

use std::fmt;
use std::io::BufRead;

use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::TraceError;

/// The lines of a reader, numbered from 1, without a byte order mark and without their ends, LF or CRLF.
///
/// A record is one line here, so that the number of a bad line is exact; a line break inside quotation marks is an
/// error.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    bytes: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(reader: R) -> Self {
        Lines {
            reader,
            bytes: Vec::new(),
            number: 0,
        }
    }

    /// The next line that is not blank and, if `comments`, does not start with `#`; with its number.
    pub(super) fn next(&mut self, comments: bool) -> Result<Option<(u64, &str)>, TraceError> {
        loop {
            self.bytes.clear();
            self.number += 1;
            let line = self.number;
            let read = self.reader.read_until(b'\n', &mut self.bytes);
            let read = read.map_err(|error| TraceError::Read {
                line,
                reason: error.to_string(),
            })?;
            if read == 0 {
                return Ok(None);
            }
            let skipped = {
                let text = self.text()?.trim_ascii_start();
                text.is_empty() || (comments && text.starts_with('#'))
            };
            if !skipped {
                // The borrow checker cannot see that the text above ends with this round.
                return Ok(Some((line, self.text()?)));
            }
        }
    }

    fn text(&self) -> Result<&str, TraceError> {
        let bytes = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let bytes = match self.number {
            1 => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            _ => bytes,
        };
        str::from_utf8(bytes).map_err(|error| TraceError::Line {
            line: self.number,
            expected: "text in UTF-8",
            reason: error.to_string(),
        })
    }
}

/// The comma-separated fields of a line (RFC 4180), in memory that is used again for the next.
#[derive(Debug, Default)]
pub(super) struct Record {
    text: String,
    /// Where each field ends in `text`.
    ends: Vec<usize>,
}

impl Record {
    /// Takes a line apart.
    pub(super) fn split(&mut self, line: &str) -> Result<(), &'static str> {
        self.text.clear();
        self.ends.clear();
        let mut rest = line;
        loop {
            let end = match rest.strip_prefix('"') {
                Some(quoted) => self.quoted(quoted)?,
                None => {
                    let end = rest.find(',').unwrap_or(rest.len());
                    self.text.push_str(&rest[..end]);
                    &rest[end..]
                }
            };
            self.ends.push(self.text.len());
            match end.strip_prefix(',') {
                Some(next) => rest = next,
                None if end.is_empty() => return Ok(()),
                None => return Err("a closing quotation mark is followed by more than a comma"),
            }
        }
    }

    /// Takes a field whose opening mark is behind us; gives what is left after its closing mark.
    fn quoted<'a>(&mut self, mut rest: &'a str) -> Result<&'a str, &'static str> {
        loop {
            let Some((inside, after)) = rest.split_once('"') else {
                return Err("a quotation mark is not closed on its line");
            };
            self.text.push_str(inside);
            match after.strip_prefix('"') {
                Some(next) => {
                    self.text.push('"');
                    rest = next;
                }
                None => return Ok(after),
            }
        }
    }

    /// How many fields the line has.
    pub(super) const fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        let mut from = 0;
        self.ends.iter().map(move |&end| {
            let field = &self.text[from..end];
            from = end;
            field
        })
    }
}

/// The keys and values of a JSON object, in order; the values as they are written, so that a number keeps its digits.
pub(super) fn object(line: &str) -> Result<Vec<(String, &RawValue)>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let pairs = deserializer.deserialize_map(Pairs)?;
    deserializer.end()?;
    Ok(pairs)
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Result<Vec<String>, &'static str> {
        let mut record = Record::default();
        record.split("left,over")?;
        record.split(line)?;
        assert_eq!(record.fields().count(), record.len());
        Ok(record.fields().map(str::to_owned).collect())
    }

    #[test]
    fn fields_are_split_at_commas_outside_quotation_marks() {
        for (line, fields) in [
            ("", &[""][..]),
            ("a", &["a"]),
            ("a,b,", &["a", "b", ""]),
            (",", &["", ""]),
            (r#""a","b,c",d"#, &["a", "b,c", "d"]),
            (r#""","a""b""""#, &["", "a\"b\""]),
            (r#"a"b,c"#, &["a\"b", "c"]),
            ("ä,\"ö\"", &["ä", "ö"]),
        ] {
            let fields: Vec<_> = fields.iter().map(|field| (*field).to_owned()).collect();
            assert_eq!(split(line), Ok(fields), "{line}");
        }
    }

    #[test]
    fn a_quotation_mark_out_of_place_is_refused() {
        for line in ["\"", "a,\"b", "\"a\"b", "\"a\" ,b", "\"a\"\"\"\"b"] {
            assert!(split(line).is_err(), "{line}");
        }
    }

    #[test]
    fn lines_lose_their_ends_and_the_byte_order_mark() {
        let file = b"\xef\xbb\xbfa\r\n\n \t\nb\rc\n#d\n\xef\xbb\xbfe";
        for (comments, expected) in [
            (
                false,
                &[(1, "a"), (4, "b\rc"), (5, "#d"), (6, "\u{feff}e")][..],
            ),
            (true, &[(1, "a"), (4, "b\rc"), (6, "\u{feff}e")]),
        ] {
            let mut lines = Lines::new(std::io::BufReader::with_capacity(1, &file[..]));
            for &(number, text) in expected {
                assert_eq!(lines.next(comments), Ok(Some((number, text))));
            }
            assert_eq!(lines.next(comments), Ok(None));
        }
    }

    #[test]
    fn a_line_that_is_not_utf_8_is_told_by_its_number() {
        let mut lines = Lines::new(&b"a\n\xff\n"[..]);
        assert_eq!(lines.next(false), Ok(Some((1, "a"))));
        let Err(TraceError::Line { line: 2, .. }) = lines.next(false) else {
            unreachable!()
        };
    }

    #[test]
    fn numbers_of_an_object_keep_their_digits() {
        let pairs = object(r#" {"a": 61.1140, "b\u00e4":[1, 2],"a":null} "#).unwrap();
        let texts: Vec<_> = pairs
            .iter()
            .map(|(key, value)| (key.as_str(), value.get()))
            .collect();
        assert_eq!(texts, [("a", "61.1140"), ("bä", "[1, 2]"), ("a", "null")]);
        for line in ["", "[]", "1", "{", "{}{}", "{\"a\":}", "{\"a\":01}"] {
            assert!(object(line).is_err(), "{line}");
        }
    }
}
