//! Two reports side by side, as a page.

use super::page::{self, class, sign};
use crate::compare::{Change, Comparison};
use maud::{Markup, html};
use std::io;

impl Comparison {
    /// Writes one HTML file that needs no other.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_html(&self, mut to: impl io::Write) -> io::Result<()> {
        let said = self.conclusion();
        let (word, rest) = said.text.split_once(':').unwrap_or((&said.text, ""));
        let title = format!("{word} · comparison · openloop");
        let body = html! {
            header class={ "verdict " (class(said.tone)) } {
                p.word { span.sign aria-hidden="true" { (sign(said.tone)) } span { (word) } }
                @if !rest.is_empty() { h1 { (rest.trim()) "." } }
                @if let Some(others) = self.others() { p.note { "Of the other figures: " (others) "." } }
                dl.facts { dt { "A" } dd { (self.a) } dt { "B" } dd { (self.b) } }
            }
            @if !self.doubts.is_empty() {
                ul.findings {
                    @for doubt in &self.doubts {
                        li.doubtful { span.sign aria-hidden="true" { "!" } b { "doubt" } span { (doubt) } }
                    }
                }
            }
            section id="changes" {
                h2 { "Figure by figure" }
                (self.table())
                p.note { (Comparison::NOTE) }
            }
        };
        to.write_all(page::shell(&title, "", &body).into_string().as_bytes())?;
        to.flush()
    }

    fn table(&self) -> Markup {
        // Shares are differences and not multiples: they have no place on the axis.
        let ratios = self.changes.iter().filter(|change| change.is_ratio());
        let widest = ratios
            .filter_map(|change| change.difference)
            .flat_map(|(_, [low, high])| [low.ln().abs(), high.ln().abs()])
            .filter(|x| x.is_finite())
            .fold(0.1_f64, f64::max);
        html! {
            div.scroll { table.figures.changes {
                thead { tr {
                    th scope="col" {} th scope="col" { "A" } th scope="col" { "B" } th scope="col" { "change" } th.interval scope="col" { "98 %" }
                    th.rail-head scope="col" { "better ← → worse" } th.verdict-head scope="col" {}
                } }
                tbody {
                    @for change in &self.changes {
                        tr class=(class(change.tone())) {
                            th scope="row" { (change.name) }
                            td { (change.text_a()) } td { (change.text_b()) } td { b { (change.ratio_text()) } } td.faint.interval { (change.interval_text()) }
                            td.rail-cell { (rail(change, widest)) }
                            td.said { @if !change.verdict_text().is_empty() { span.sign aria-hidden="true" { (sign(change.tone())) } " " (change.verdict_text()) } }
                        }
                    }
                }
            } }
        }
    }
}

impl Change {
    fn is_ratio(&self) -> bool {
        self.unit == crate::compare::ChangeUnit::Nanoseconds
    }
}

/// The interval on an axis of powers, with no change in the middle.
fn rail(change: &Change, widest: f64) -> Markup {
    let at = |ratio: f64| 50.0 + 48.0 * (ratio.ln() / widest).clamp(-1.0, 1.0);
    let found = change.difference.filter(|_| change.is_ratio());
    html! {
        @if let Some((point, [low, high])) = found {
            @let (low, high, point) = (at(low), at(high), at(point));
            span.rail data-tip=(change.interval_text()) title=(change.interval_text()) {
                i.none style="left:50%" {}
                i.thick style=(format!("left:{low:.2}%;width:{:.2}%", (high - low).max(0.5))) {}
                i.mid style=(format!("left:{point:.2}%")) {}
            }
        }
    }
}
