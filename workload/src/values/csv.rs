//! Measured values from a file.

use super::{Empirical, ValuesError};
use std::io::{self, BufRead};

/// Why a file is not one of values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CsvError {
    /// It cannot be read.
    #[error("cannot read values: {0}")]
    Read(#[from] io::Error),
    /// A line is neither a value nor a value and its count.
    #[error(
        "line {line} is \"{text}\": give a value of at least 0, or a value and its count, such as 200 or 200,3"
    )]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// Together the values make no law.
    #[error(transparent)]
    Values(#[from] ValuesError),
}

impl Empirical {
    /// The values of lines `value` or `value,count`.
    ///
    /// Empty lines and those that begin with `#` are left out, and so is a first line of `value` or `value,count`, the
    /// names of the columns. Spaces around a field do not count.
    ///
    /// # Errors
    /// When reading fails, a line is none of these, or there is no value at all.
    pub fn from_csv(reader: impl BufRead) -> Result<Self, CsvError> {
        let mut values = Vec::new();
        for (index, line) in reader.lines().enumerate() {
            let line = line?;
            let text = line.trim();
            let text = if index == 0 {
                text.trim_start_matches('\u{feff}')
            } else {
                text
            };
            let is_header = index == 0 && ["value", "value,count"].contains(&text);
            if text.is_empty() || text.starts_with('#') || is_header {
                continue;
            }
            let entry = entry(text).ok_or_else(|| CsvError::Line {
                line: index + 1,
                text: text.chars().take(80).collect(),
            })?;
            values.push(entry);
        }
        Ok(Empirical::with_counts(values)?)
    }
}

fn entry(text: &str) -> Option<(f64, u64)> {
    let (value, count) = match text.split_once(',') {
        Some((value, count)) => (value, count.trim().parse().ok()?),
        None => (text, 1),
    };
    let value = value.trim().parse().ok()?;
    super::law::not_negative("a value", value).ok()?;
    Some((value, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_values_with_or_without_counts() {
        let csv = "\u{feff}value,count\r\n# a comment\n\n 2 , 3 \n1\n1e1,2\n2,1\n7,0\n";
        let values = Empirical::from_csv(csv.as_bytes()).unwrap();
        let counts: Vec<_> = values.counts().collect();
        assert_eq!(counts, [(1.0, 1), (2.0, 4), (10.0, 2)]);
        assert_eq!(values.total(), 7);
    }

    #[test]
    fn a_bad_line_is_named_by_its_number() {
        for bad in [
            "x", "-1", "nan", "inf", "1,", "1,2,3", "1,-2", "1,2.5", "value", ",", "1e300",
        ] {
            let error =
                Empirical::from_csv(format!("1\n\n2,2\n{bad}\n3\n").as_bytes()).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("line 4 is \"{bad}\":")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_without_values_is_refused() {
        for empty in ["", "value\n", "# nothing\n", "5,0\n"] {
            let error = Empirical::from_csv(empty.as_bytes()).unwrap_err();
            assert!(
                matches!(error, CsvError::Values(ValuesError::Empty)),
                "{error}"
            );
        }
    }

    #[test]
    fn counts_that_overflow_are_refused() {
        let csv = format!("1,{}\n2,1\n", u64::MAX);
        let error = Empirical::from_csv(csv.as_bytes()).unwrap_err();
        assert!(
            matches!(error, CsvError::Values(ValuesError::TooMany)),
            "{error}"
        );
    }
}
