//! One picture of a figure: lines, bands and stacks over the common axis.

use super::frame::Frame;
use super::rules::Labels;
use super::scale::{Scale, XAxis, axis_count, axis_ns, axis_share};
use maud::{Markup, html};
use std::fmt::Write;

/// How a series looks: its class in the style sheet, which has a colour and, for lines, a stroke of its own.
pub(in super::super) type Style = &'static str;

/// A point of a line.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Point {
    pub(in super::super) x: f64,
    /// `None` where there is nothing: the line is broken there.
    pub(in super::super) y: Option<f64>,
    /// Whether it is at least that: the line is dashed there, and an arrow points upwards.
    pub(in super::super) at_least: bool,
}

/// A line and what it is called.
#[derive(Clone, Debug)]
pub(in super::super) struct Line {
    pub(in super::super) name: String,
    pub(in super::super) style: Style,
    pub(in super::super) points: Vec<Point>,
    pub(in super::super) marks: Marks,
}

/// Whether the points of a line are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Marks {
    /// There are too many, or they were computed.
    No,
    /// They were measured one by one.
    Points,
    /// Likewise, and nothing lies between them.
    PointsAlone,
}

/// Intervals: a bar at each place for which there is one. Between them nothing is known, so nothing is drawn.
#[derive(Clone, Debug)]
pub(in super::super) struct Band {
    pub(in super::super) name: String,
    pub(in super::super) style: Style,
    /// How far a bar reaches to both sides, along the axis; where it does not matter, it is a few pixels.
    pub(in super::super) reach: Option<f64>,
    /// Place, lower and upper value.
    pub(in super::super) points: Vec<(f64, f64, f64)>,
}

/// A place on the horizontal axis with a name: an edge that was found.
#[derive(Clone, Debug)]
pub(in super::super) struct Rule {
    /// From 0 to 1.
    pub(in super::super) place: f64,
    pub(in super::super) name: String,
}

/// Bars on each other, one for each place.
#[derive(Clone, Debug)]
pub(in super::super) struct Stack {
    pub(in super::super) parts: Vec<(String, Style)>,
    /// From where to where, and the height of each part.
    pub(in super::super) bars: Vec<(f64, f64, Vec<f64>)>,
}

/// A stretch of the axis with a name.
#[derive(Clone, Debug)]
pub(in super::super) struct Shade {
    pub(in super::super) from: f64,
    pub(in super::super) to: f64,
    pub(in super::super) name: String,
    /// Whether it is the one that counts.
    pub(in super::super) is_steady: bool,
}

/// What the vertical axis is in.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum YAxis {
    Nanoseconds(Scale),
    Count(Scale),
    /// A share of 1, as percent.
    Share(Scale),
    /// A share more or less.
    Change(Scale),
}

impl YAxis {
    fn scale(self) -> Scale {
        match self {
            YAxis::Nanoseconds(scale)
            | YAxis::Count(scale)
            | YAxis::Share(scale)
            | YAxis::Change(scale) => scale,
        }
    }

    fn ticks(self, count: usize) -> Vec<(f64, String)> {
        match self {
            YAxis::Nanoseconds(scale) => axis_ns(scale, count),
            YAxis::Count(scale) => axis_count(scale, count),
            YAxis::Share(scale) => axis_share(scale, count, false),
            YAxis::Change(scale) => axis_share(scale, count, true),
        }
    }
}

/// A picture.
#[derive(Clone, Debug)]
pub(in super::super) struct Panel<'a> {
    pub(in super::super) title: &'a str,
    pub(in super::super) y: YAxis,
    /// How high it is, against a whole figure.
    pub(in super::super) height: f64,
    pub(in super::super) lines: Vec<Line>,
    pub(in super::super) bands: Vec<Band>,
    pub(in super::super) rules: Vec<Rule>,
    pub(in super::super) stack: Option<Stack>,
    pub(in super::super) shades: &'a [Shade],
    /// Whether the stretches are named.
    pub(in super::super) names_shades: bool,
}

/// Arrows stand at least so many pixels apart.
const ARROWS_APART: f64 = 16.0;

impl Line {
    /// The class of its marks: those that stand alone are larger.
    fn dots(&self) -> &'static str {
        match self.marks {
            Marks::PointsAlone => "dots alone ",
            Marks::Points | Marks::No => "dots ",
        }
    }

    /// How it looks.
    fn swatch(&self) -> Markup {
        html! {
            @if self.marks == Marks::PointsAlone {
                svg.swatch viewBox="0 0 12 8" aria-hidden="true" { path class={ (self.dots()) (self.style) } d="M6 4h0" {} }
            } @else {
                svg.swatch viewBox="0 0 26 8" aria-hidden="true" {
                    path class={ "line " (self.style) } d="M1 4H25" {}
                    @if self.marks == Marks::Points { path class={ "dots " (self.style) } d="M13 4h0" {} }
                }
            }
        }
    }
}

impl<'a> Panel<'a> {
    /// Of lines alone, as high as a whole figure.
    pub(in super::super) fn new(title: &'a str, y: YAxis, lines: Vec<Line>) -> Self {
        Panel {
            title,
            y,
            height: 1.0,
            lines,
            bands: Vec::new(),
            rules: Vec::new(),
            stack: None,
            shades: &[],
            names_shades: false,
        }
    }
}

impl Panel<'_> {
    /// The title, and which line is what.
    pub(super) fn caption(&self) -> Markup {
        let has_bounds = self
            .lines
            .iter()
            .any(|line| line.points.iter().any(|point| point.at_least));
        html! {
            div.caption {
                span.title { (self.title) }
                @for line in &self.lines {
                    span.key { (line.swatch()) (line.name) }
                }
                @for (name, style) in self.stack.iter().flat_map(|stack| &stack.parts) {
                    span.key { svg.swatch viewBox="0 0 12 8" aria-hidden="true" { rect class={ "fill " (style) } width="12" height="8" {} } (name) }
                }
                @for band in &self.bands {
                    span.key { svg.swatch viewBox="0 0 12 8" aria-hidden="true" { rect class={ "band " (band.style) } width="12" height="8" {} } (band.name) }
                }
                @if has_bounds {
                    span.key { svg.swatch viewBox="0 0 12 10" aria-hidden="true" { path.arrow d="M6 1l4 7h-8z" {} } "≥, a lower bound" }
                }
            }
        }
    }

    pub(super) fn svg(&self, class: &str, frame: &Frame, x: &XAxis) -> Markup {
        let labels = Labels::of(&self.rules, frame);
        let frame = &frame.scaled(self.height).with_lanes(labels.lanes);
        let (left, right) = (frame.x(0.0), frame.x(1.0));
        let (bottom, top) = (frame.y(0.0), frame.y(1.0));
        let y_ticks = self.y.ticks(((bottom - top) / 34.0) as usize);
        let share = |px: f64| format!("{:.5}", px / frame.width);
        html! {
            svg class=(class) viewBox=(format!("0 0 {} {}", frame.width, frame.height))
                data-left=(share(left)) data-right=(share(right)) role="img" aria-label=(self.title) {
                @for shade in self.shades {
                    (self.shade(shade, frame))
                }
                g.grid {
                    @for (place, text) in &y_ticks {
                        @let y = px(frame.y(*place));
                        line x1=(px(left)) x2=(px(right)) y1=(y) y2=(y) {}
                        text.y x=(px(left - 7.0)) y=(y) { (text) }
                    }
                    @for (place, text) in x.ticks(frame.gap()) {
                        @let at = px(frame.x(*place));
                        line.tick x1=(at) x2=(at) y1=(px(bottom)) y2=(px(bottom + 4.0)) {}
                        text class=(anchor(*place)) x=(at) y=(px(bottom + 16.0)) { (text) }
                    }
                    line.axis x1=(px(left)) x2=(px(right)) y1=(px(bottom)) y2=(px(bottom)) {}
                }
                @for band in &self.bands {
                    path class={ "band " (band.style) } d=(self.area(band, frame, x)) {}
                }
                @if let Some(stack) = &self.stack {
                    @for (index, (_, style)) in stack.parts.iter().enumerate() {
                        path class={ "fill " (style) } d=(self.bars(stack, index, frame, x)) {}
                    }
                }
                @for line in &self.lines {
                    @let drawn = self.line(line, frame, x);
                    @if !drawn.solid.is_empty() { path class={ "line " (line.style) } d=(drawn.solid) {} }
                    @if !drawn.dashed.is_empty() { path class={ "line bound " (line.style) } d=(drawn.dashed) {} }
                    @if !drawn.dots.is_empty() { path class={ (line.dots()) (line.style) } d=(drawn.dots) {} }
                    @if !drawn.arrows.is_empty() { path class={ "arrow " (line.style) } d=(drawn.arrows) {} }
                }
                (labels.markup(frame))
                line.cursor y1=(px(top)) y2=(px(bottom)) {}
            }
        }
    }

    fn shade(&self, shade: &Shade, frame: &Frame) -> Markup {
        let (from, to) = (frame.x(shade.from), frame.x(shade.to));
        let (top, bottom) = (frame.y(1.0), frame.y(0.0));
        let class = if shade.is_steady { "steady" } else { "outside" };
        // About as wide as a letter is.
        let fits = self.names_shades && shade.name.chars().count() as f64 * 6.4 + 8.0 < to - from;
        html! {
            rect class=(class) x=(px(from)) width=(px(to - from)) y=(px(top)) height=(px(bottom - top)) {
                title { (shade.name) }
            }
            @if fits { text.phase x=(px((from + to) / 2.0)) y=(px(top + 12.0)) { (shade.name) } }
        }
    }

    fn area(&self, band: &Band, frame: &Frame, x: &XAxis) -> String {
        let mut path = String::new();
        for (place, low, high) in &band.points {
            let at = frame.x(x.scale.place(*place));
            let [low, high] = [low, high].map(|value| frame.y(self.y.scale().place(*value)));
            // An interval that is next to nothing must be seen as one.
            let (low, high) = match low - high < 2.0 {
                true => (low + 1.0, high - 1.0),
                false => (low, high),
            };
            let edge = |by: f64, pixels: f64| match band.reach {
                Some(reach) => frame.x(x.scale.place(place + by * reach)),
                None => (at + by * pixels).max(frame.x(0.0)).min(frame.x(1.0)),
            };
            let (left, right) = (edge(-1.0, 5.0), edge(1.0, 5.0));
            // Writing into a String cannot fail.
            let _ = write!(path, "M{left:.1} {low:.1}V{high:.1}H{right:.1}V{low:.1}Z");
        }
        path
    }

    fn bars(&self, stack: &Stack, part: usize, frame: &Frame, x: &XAxis) -> String {
        let mut path = String::new();
        for (from, to, heights) in &stack.bars {
            let Some(height) = heights.get(part).filter(|height| **height > 0.0) else {
                continue;
            };
            let below: f64 = heights[..part].iter().sum();
            let [from, to] = [from, to].map(|at| frame.x(x.scale.place(*at)));
            let [low, high] =
                [below, below + height].map(|value| frame.y(self.y.scale().place(value)));
            // A single failure among many must be seen.
            let high = high.min(low - 1.5);
            let to = (to - 0.5).max(from + 1.0);
            // Writing into a String cannot fail.
            let _ = write!(path, "M{from:.1} {low:.1}V{high:.1}H{to:.1}V{low:.1}Z");
        }
        path
    }

    fn line(&self, line: &Line, frame: &Frame, x: &XAxis) -> Drawn {
        let mut drawn = Drawn::default();
        let mut before: Option<(f64, f64, bool)> = None;
        let mut arrow_at = f64::NEG_INFINITY;
        for (index, point) in line.points.iter().enumerate() {
            let Some(value) = point.y else {
                before = None;
                continue;
            };
            let at = (
                frame.x(x.scale.place(point.x)),
                frame.y(self.y.scale().place(value)),
            );
            if let Some((x, y, was_bound)) = before {
                let path = match was_bound || point.at_least {
                    true => &mut drawn.dashed,
                    false => &mut drawn.solid,
                };
                // A path goes on where it stopped.
                if !path.ends_with(&text_of(x, y)) {
                    step(path, 'M', x, y);
                }
                step(path, 'L', at.0, at.1);
            }
            let next = line.points.get(index + 1);
            let is_alone = before.is_none() && next.is_none_or(|next| next.y.is_none());
            if is_alone || (line.marks != Marks::No && !point.at_least) {
                step(&mut drawn.dots, 'M', at.0, at.1);
                drawn.dots.push_str("h0");
            }
            if point.at_least && at.0 - arrow_at >= ARROWS_APART {
                arrow_at = at.0;
                step(&mut drawn.arrows, 'M', at.0, at.1 - 6.0);
                drawn.arrows.push_str("l4 7h-8z");
            }
            let goes_on = line.marks != Marks::PointsAlone;
            before = goes_on.then_some((at.0, at.1, point.at_least));
        }
        drawn
    }
}

/// The parts of a line.
#[derive(Debug, Default)]
struct Drawn {
    solid: String,
    dashed: String,
    dots: String,
    arrows: String,
}

fn text_of(x: f64, y: f64) -> String {
    format!("{x:.1} {y:.1}")
}

fn step(path: &mut String, command: char, x: f64, y: f64) {
    path.push(command);
    path.push_str(&text_of(x, y));
}

fn px(px: f64) -> String {
    format!("{px:.1}")
}

/// The first and the last number of an axis stay within the picture.
fn anchor(place: f64) -> &'static str {
    match place {
        place if place < 0.02 => "x first",
        place if place > 0.98 => "x last",
        _ => "x",
    }
}
