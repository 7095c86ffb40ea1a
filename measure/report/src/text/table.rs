//! Columns.

use super::style::TextStyle;
use crate::words::Tone;

/// A table: the first column to the left, the others to the right.
#[derive(Debug)]
pub(crate) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<(String, Tone)>>,
}

impl Table {
    pub(crate) fn new<'a>(head: impl IntoIterator<Item = &'a str>) -> Self {
        Table {
            head: head.into_iter().map(str::to_owned).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = (String, Tone)>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Leaves out columns that are empty in every row.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        for column in (1..self.head.len()).rev() {
            let is_empty =
                |row: &Vec<(String, Tone)>| row.get(column).is_none_or(|cell| cell.0.is_empty());
            if self.rows.iter().all(is_empty) {
                self.head.remove(column);
                for row in &mut self.rows {
                    if column < row.len() {
                        row.remove(column);
                    }
                }
            }
        }
        self
    }

    /// How wide it is with two blanks between columns.
    pub(crate) fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
    }

    fn widths(&self) -> Vec<usize> {
        let cell = |row: &[(String, Tone)], column: usize| {
            row.get(column).map_or(0, |(text, _)| columns(text))
        };
        self.head
            .iter()
            .enumerate()
            .map(|(column, head)| {
                let widest = self.rows.iter().map(|row| cell(row, column)).max();
                columns(head).max(widest.unwrap_or(0))
            })
            .collect()
    }

    /// The lines of the table, no wider than need be; with one blank between columns where two do not fit.
    pub(crate) fn lines(&self, style: &TextStyle, indent: usize) -> Vec<String> {
        let widths = self.widths();
        let gap = if indent + self.width() > style.width {
            1
        } else {
            2
        };
        let head = self.head.iter().map(|text| (text.as_str(), Tone::Faint));
        let rows = self.rows.iter().map(|row| {
            let cells = row.iter().map(|(text, tone)| (text.as_str(), *tone));
            line(cells, &widths, gap, indent, style)
        });
        std::iter::once(line(head, &widths, gap, indent, style))
            .chain(rows)
            .collect()
    }
}

fn line<'a>(
    cells: impl Iterator<Item = (&'a str, Tone)>,
    widths: &[usize],
    gap: usize,
    indent: usize,
    style: &TextStyle,
) -> String {
    let mut line = " ".repeat(indent);
    // Blanks come only before something that is printed, so that no line ends in any.
    let mut blanks = 0;
    for (column, ((text, tone), width)) in cells.zip(widths).enumerate() {
        let padding = width.saturating_sub(columns(text));
        if column > 0 {
            blanks += gap + padding;
        }
        if !text.is_empty() {
            line.push_str(&" ".repeat(blanks));
            line.push_str(&style.paint(tone, text));
            blanks = 0;
        }
        if column == 0 {
            blanks += padding;
        }
    }
    line
}

/// How many columns a text without escape sequences takes: every character that is printed here takes one.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// `text` in lines of at most `width` columns, broken at blanks; a longer word has a line of its own.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(text) {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(&word);
        } else if columns(line) + 1 + columns(&word) <= width {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

/// Words, in which a figure keeps its unit, its mark and its groups of digits.
fn words(text: &str) -> Vec<String> {
    const UNITS: [&str; 5] = ["ns", "µs", "ms", "s", "%"];
    let is_digit = |c: char| c.is_ascii_digit();
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_end_matches([',', ';', ':', '.', ')']);
        let is_group = bare.len() == 3 && bare.chars().all(is_digit);
        match words.last_mut() {
            Some(before)
                if before.ends_with('≥')
                    || ((UNITS.contains(&bare) || is_group) && before.ends_with(is_digit)) =>
            {
                before.push(' ');
                before.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["", "p50", "none", "max"]);
        let cell = |text: &str| (text.to_owned(), Tone::Strong);
        table.row([cell("response"), cell("1.23 ms"), cell(""), cell("≥ 2 s")]);
        table.row([cell("lag"), cell("5 µs"), cell(""), cell("")]);
        table.without_empty_columns()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_no_line_ends_in_blanks() {
        let lines = table().lines(&TextStyle::default(), 2);
        assert_eq!(
            lines,
            [
                "                p50    max",
                "  response  1.23 ms  ≥ 2 s",
                "  lag          5 µs",
            ]
        );
        assert_eq!(table().width(), 24);
    }

    #[test]
    fn colour_moves_nothing() {
        let colour = TextStyle {
            colour: true,
            width: 80,
        };
        let coloured = table().lines(&colour, 2);
        let plain: Vec<String> = coloured
            .iter()
            .map(|line| {
                ["\u{1b}[1m", "\u{1b}[2m", "\u{1b}[0m"]
                    .iter()
                    .fold(line.clone(), |line, code| line.replace(code, ""))
            })
            .collect();
        assert_eq!(plain, table().lines(&TextStyle::default(), 2));
        assert_ne!(coloured, plain);
    }

    #[test]
    fn a_number_is_not_parted_from_its_unit() {
        assert_eq!(
            wrapped("at most 12.9 ms, yes", 13),
            ["at most", "12.9 ms, yes"]
        );
        assert_eq!(wrapped("p99 is ≥ 1.5 s", 9), ["p99 is", "≥ 1.5 s"]);
        assert_eq!(wrapped("of 72 000, 5", 8), ["of", "72 000,", "5"]);
    }
}
