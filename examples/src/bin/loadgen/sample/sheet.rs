//! What a sampler says of itself beside what its draws say: as text, JSON or CSV.

use crate::shares::percent;
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::{self, Write};

/// Columns of the longest bar.
const BAR: f64 = 30.0;

/// Everything that is known of a sampler.
#[derive(Debug, Default, Serialize)]
pub(super) struct Sheet {
    /// What was asked for.
    pub(super) sampler: String,
    /// Absent where nothing is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) drawn: Option<Drawn>,
    pub(super) sections: Vec<Section>,
    pub(super) notes: Vec<String>,
    /// What the programs of a kind of sampler may want beside it.
    #[serde(flatten)]
    pub(super) more: Map<String, Value>,
    #[serde(serialize_with = "as_objects")]
    pub(super) sample: Rows,
}

/// How often was drawn, and from what.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Drawn {
    pub(super) seed: u64,
    pub(super) draws: u64,
}

/// Figures under one heading.
#[derive(Debug, Serialize)]
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) figures: Vec<Figure>,
}

/// One number as the law has it and as the draws have it; `None` where one of them does not.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) law: Option<f64>,
    pub(super) drawn: Option<f64>,
    #[serde(skip)]
    pub(super) unit: Unit,
}

/// How a figure is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// As it is.
    Number,
    /// In per cent, with a bar.
    Share,
}

/// The draws themselves.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Vec<Value>>,
}

impl Figure {
    pub(super) fn number(
        name: impl Into<String>,
        law: impl Into<Option<f64>>,
        drawn: impl Into<Option<f64>>,
    ) -> Self {
        Figure {
            name: name.into(),
            law: law.into(),
            drawn: drawn.into(),
            unit: Unit::Number,
        }
    }

    pub(super) fn share(
        name: impl Into<String>,
        law: impl Into<Option<f64>>,
        drawn: impl Into<Option<f64>>,
    ) -> Self {
        Figure {
            unit: Unit::Share,
            ..Figure::number(name, law, drawn)
        }
    }

    fn bar(&self) -> String {
        let share = self.law.or(self.drawn).filter(|_| self.unit == Unit::Share);
        let eighths = (share.unwrap_or_default() * BAR * 8.0).round() as usize;
        let rest = [
            "", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}",
        ];
        "\u{2588}".repeat(eighths / 8) + rest[eighths % 8]
    }

    fn shown(&self, number: Option<f64>) -> String {
        match self.unit {
            Unit::Share => percent(number),
            Unit::Number => number.map_or_else(|| "\u{2013}".to_owned(), significant),
        }
    }
}

/// Five digits of a number, or all of a whole one.
pub(super) fn significant(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return format!("{number}");
    }
    let magnitude = number.abs().log10().floor();
    if !(-4.0..15.0).contains(&magnitude) {
        return format!("{number:.4e}");
    }
    let digits = (4.0 - magnitude).max(0.0) as usize;
    format!("{number:.digits$}")
}

impl Sheet {
    pub(super) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub(super) fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.sample.columns.join(","))?;
        for row in &self.sample.rows {
            let cells: Vec<_> = row.iter().map(cell).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        Ok(())
    }

    pub(super) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.drawn {
            Some(Drawn { seed, draws }) => writeln!(
                out,
                "{}: the law beside {draws} draws from the seed {seed}",
                self.sampler
            )?,
            None => writeln!(out, "{}", self.sampler)?,
        }
        let names = self.sections.iter().flat_map(|section| &section.figures);
        let names = names.map(|figure| figure.name.chars().count() + 2);
        let titles = self
            .sections
            .iter()
            .map(|section| section.title.chars().count());
        let width = names.chain(titles).max().unwrap_or_default();
        for section in &self.sections {
            let title = section.title;
            writeln!(out, "\n{title:<width$}  {:>12}  {:>12}", "law", "drawn")?;
            for figure in &section.figures {
                let (law, drawn) = (figure.shown(figure.law), figure.shown(figure.drawn));
                let line = format!(
                    "  {:<rest$}  {law:>12}  {drawn:>12}  {}",
                    figure.name,
                    figure.bar(),
                    rest = width - 2,
                );
                writeln!(out, "{}", line.trim_end())?;
            }
        }
        if !self.notes.is_empty() {
            writeln!(out)?;
        }
        for note in &self.notes {
            writeln!(out, "{note}")?;
        }
        if self.sample.rows.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        self.sample.write_text(out)
    }
}

impl Rows {
    /// Columns as wide as they must be, numbers to the right.
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Null => "\u{2013}".to_owned(),
            other => other.to_string(),
        };
        let rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| row.iter().map(text).collect())
            .collect();
        let width = |at: usize| {
            let cells = rows
                .iter()
                .filter_map(|row| row.get(at))
                .map(|cell| cell.chars().count());
            cells.max().unwrap_or_default().max(self.columns[at].len())
        };
        let widths: Vec<_> = (0..self.columns.len()).map(width).collect();
        let is_text = |at: usize| self.rows.iter().any(|row| row[at].is_string());
        let line = |cells: &[String]| {
            let cells = cells.iter().zip(&widths).enumerate();
            let padded: Vec<_> = cells
                .map(|(at, (cell, width))| match is_text(at) {
                    true => format!("{cell:<width$}"),
                    false => format!("{cell:>width$}"),
                })
                .collect();
            padded.join("  ").trim_end().to_owned()
        };
        let header: Vec<_> = self.columns.iter().map(|&name| name.to_owned()).collect();
        writeln!(out, "{}", line(&header))?;
        rows.iter()
            .try_for_each(|row| writeln!(out, "{}", line(row)))
    }
}

/// A field of a CSV file, in quotation marks where it must be.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn as_objects<S: serde::Serializer>(rows: &Rows, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.rows.iter().map(|row| {
        let named = rows.columns.iter().map(|&name| name.to_owned());
        named.zip(row.iter().cloned()).collect::<Map<_, _>>()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_have_five_digits_and_whole_ones_all() {
        for (number, text) in [
            (0.0, "0"),
            (1e9, "1000000000"),
            (0.123_456_7, "0.12346"),
            (1.5, "1.5000"),
            (123_456.7, "123457"),
            (1e-7, "1.0000e-7"),
            (1.5e20, "1.5000e20"),
        ] {
            assert_eq!(significant(number), text);
        }
    }

    #[test]
    fn a_bar_is_as_long_as_the_share() {
        let bar = |share| Figure::share("", share, None).bar();
        assert_eq!(bar(1.0), "\u{2588}".repeat(30));
        assert_eq!(bar(0.05), "\u{2588}\u{258c}");
        assert_eq!(bar(0.0), "");
        assert_eq!(Figure::number("", 1.0, 1.0).bar(), "");
    }

    #[test]
    fn rows_are_csv_and_objects_alike() {
        let sheet = Sheet {
            sample: Rows {
                columns: vec!["seq", "body"],
                rows: vec![
                    vec![json!(0), json!("a,\"b\"")],
                    vec![json!(1), Value::Null],
                ],
            },
            ..Sheet::default()
        };
        let mut csv = Vec::new();
        sheet.write_csv(&mut csv).unwrap();
        assert_eq!(csv, b"seq,body\n0,\"a,\"\"b\"\"\"\n1,\n");
        let table = serde_json::to_value(&sheet).unwrap();
        assert_eq!(table["sample"][0], json!({"seq": 0, "body": "a,\"b\""}));
    }
}
