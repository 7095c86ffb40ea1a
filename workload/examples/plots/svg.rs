//! Small plots as SVG for rustdoc: without a blank line, which would end them in Markdown, and in the colour of the text
//! around, so that every theme can show them.

use std::fmt::Write;

pub(crate) const WIDTH: f64 = 440.0;
pub(crate) const HEIGHT: f64 = 220.0;
pub(crate) const LEFT: f64 = 46.0;
pub(crate) const RIGHT: f64 = 26.0;
pub(crate) const TOP: f64 = 14.0;
pub(crate) const BOTTOM: f64 = 38.0;

/// Colours that have a contrast of 3 and more with a white page and with a dark one.
pub(crate) const COLOURS: [&str; 4] = ["#3b8de0", "#d97706", "#2e9e5b", "#a06cd5"];

/// A drawing that grows.
pub(crate) struct Svg {
    body: String,
    label: String,
}

/// From values to places.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    from: f64,
    to: f64,
    log: bool,
    start: f64,
    end: f64,
}

impl Axis {
    pub(crate) fn x(from: f64, to: f64) -> Self {
        Axis {
            from,
            to,
            log: false,
            start: LEFT,
            end: WIDTH - RIGHT,
        }
    }

    pub(crate) fn y(from: f64, to: f64) -> Self {
        Axis {
            from,
            to,
            log: false,
            start: HEIGHT - BOTTOM,
            end: TOP,
        }
    }

    pub(crate) fn log(self) -> Self {
        Axis { log: true, ..self }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.log { value.log10() } else { value };
        let part = (scale(value) - scale(self.from)) / (scale(self.to) - scale(self.from));
        self.start + part * (self.end - self.start)
    }

    /// The value at a part of the axis, 0 at its start and 1 at its end.
    pub(crate) fn value(&self, part: f64) -> f64 {
        if self.log {
            return self.from * (self.to / self.from).powf(part);
        }
        self.from + part * (self.to - self.from)
    }
}

impl Svg {
    /// `label` is for those who do not see it.
    pub(crate) fn new(label: &str) -> Self {
        Svg {
            body: String::new(),
            label: label.to_owned(),
        }
    }

    pub(crate) fn line(&mut self, points: &[(f64, f64)], colour: &str) {
        let points: Vec<_> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let points = points.join(" ");
        self.push(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        ));
    }

    /// A thin line in the colour of the text.
    pub(crate) fn rule(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), opacity: f64) {
        self.push(format_args!(
            "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"currentColor\" stroke-opacity=\"{opacity}\"/>"
        ));
    }

    /// Dots, as strokes without a length: a thousand circles would be five times as long.
    pub(crate) fn dots(&mut self, dots: &[(f64, f64)], radius: f64, colour: &str) {
        let dots: String = dots
            .iter()
            .map(|(x, y)| format!("M{x:.1} {y:.1}h0"))
            .collect();
        let width = 2.0 * radius;
        self.push(format_args!(
            "<path d=\"{dots}\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linecap=\"round\"/>"
        ));
    }

    /// From one corner to the other.
    pub(crate) fn block(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str) {
        let (x, y) = (x1.min(x2), y1.min(y2));
        let (width, height) = ((x2 - x1).abs(), (y2 - y1).abs());
        self.push(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
        ));
    }

    /// `anchor` is start, middle or end.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: &str, colour: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"
        ));
    }

    /// Names in their colours, one below the other from the corner at `at`.
    pub(crate) fn legend(&mut self, at: (f64, f64), anchor: &str, names: &[(&str, &str)]) {
        for (row, (name, colour)) in names.iter().enumerate() {
            let y = at.1 + 16.0 * row as f64;
            self.text((at.0, y), anchor, colour, name);
        }
    }

    /// The horizontal axis with its ticks, and below it what it tells.
    pub(crate) fn x_axis(&mut self, axis: &Axis, ticks: &[(f64, &str)], title: &str) {
        let y = HEIGHT - BOTTOM;
        self.rule((LEFT, y), (WIDTH - RIGHT, y), 0.5);
        for (value, name) in ticks {
            let x = axis.at(*value);
            self.rule((x, y), (x, y + 4.0), 0.5);
            self.text((x, y + 16.0), "middle", "currentColor", name);
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        self.text((middle, HEIGHT - 5.0), "middle", "currentColor", title);
    }

    /// The vertical axis as faint lines across.
    pub(crate) fn y_axis(&mut self, axis: &Axis, ticks: &[(f64, &str)]) {
        for (value, name) in ticks {
            let y = axis.at(*value);
            self.rule((LEFT, y), (WIDTH - RIGHT, y), 0.15);
            self.text((LEFT - 6.0, y + 4.0), "end", "currentColor", name);
        }
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    pub(crate) fn finish(self) -> String {
        let Svg { body, label } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\" \
             font-size=\"12\" font-family=\"sans-serif\" style=\"display:block;width:100%;max-width:34rem;margin:0.5em 0 1em\">\n\
             {body}</svg>\n"
        )
    }
}
