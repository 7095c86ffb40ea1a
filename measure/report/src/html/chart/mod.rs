//! Charts as inline SVG, with their data in a table that hovering reads from.

mod frame;
mod panel;
mod rules;
mod scale;
mod table;

pub(super) use frame::Frame;
pub(super) use panel::{Band, Line, Marks, Panel, Point, Rule, Shade, Stack, YAxis};
pub(super) use scale::{Scale, XAxis, axis_rate, axis_time};
pub(super) use table::{DataTable, Row};

use maud::{Markup, html};

/// Panels over one axis, under each other, and the table of their data: one figure.
///
/// Each is drawn twice, for wide screens and for narrow ones, since text in a picture that shrinks cannot be read; the
/// style shows one of them.
pub(super) fn figure(name: &str, x: &XAxis, panels: &[Panel<'_>], data: &DataTable) -> Markup {
    html! {
        figure.chart tabindex="0" aria-label=(name) {
            @for panel in panels {
                div.panel {
                    (panel.caption())
                    @for (class, frame) in [("wide", Frame::WIDE), ("narrow", Frame::NARROW)] {
                        (panel.svg(class, &frame, x))
                    }
                }
            }
            div.tip hidden {}
            (data.markup())
        }
    }
}
