//! How the text looks.

use crate::words::Tone;

/// How the text summary looks. Plain and 80 columns wide by default: whether there is a terminal that shows colours,
/// and how wide it is, the caller decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Whether to colour by ANSI escape sequences.
    pub colour: bool,
    /// How many columns there are. Below 60, tables are wider than that.
    pub width: usize,
}

impl Default for TextStyle {
    fn default() -> Self {
        TextStyle {
            colour: false,
            width: 80,
        }
    }
}

impl TextStyle {
    /// `text` in the colour of its tone.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "1;32",
            Tone::Bad => "1;31",
            Tone::Doubtful => "33",
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Plain => return text.to_owned(),
        };
        match self.colour && !text.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}
