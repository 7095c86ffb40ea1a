//! The data of a figure.

use maud::{Markup, html};

/// What a figure shows, as a table: what hovering shows is read from its rows.
#[derive(Clone, Debug)]
pub(in super::super) struct DataTable {
    /// What the columns are called, and the style of the line that shows each.
    pub(in super::super) head: Vec<(String, Option<&'static str>)>,
    pub(in super::super) rows: Vec<Row>,
    /// What must be known to read it.
    pub(in super::super) note: Option<String>,
}

#[derive(Clone, Debug)]
pub(in super::super) struct Row {
    /// Where on the horizontal axis, from 0 to 1.
    pub(in super::super) place: f64,
    pub(in super::super) cells: Vec<String>,
}

impl DataTable {
    pub(super) fn markup(&self) -> Markup {
        html! {
            details.data {
                summary { "Data" }
                @if let Some(note) = &self.note { p.note { (note) } }
                div.scroll {
                    table {
                        thead { tr {
                            @for (text, style) in &self.head {
                                th scope="col" data-style=[style] { (text) }
                            }
                        } }
                        tbody {
                            @for row in &self.rows {
                                tr data-x=(format!("{:.4}", row.place)) {
                                    @for cell in &row.cells { td { (cell) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
