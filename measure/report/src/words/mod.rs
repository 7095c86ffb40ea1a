//! What a report says, in words: the same in text, in Markdown and in HTML.

pub(crate) mod books;
pub(crate) mod latency;
pub(crate) mod plan;
pub(crate) mod sweep;
pub(crate) mod units;
pub(crate) mod verdict;

/// A meaning that a colour shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
    Doubtful,
    Strong,
    Faint,
}

/// A sentence and how it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

impl Said {
    fn new(tone: Tone, text: impl Into<String>) -> Self {
        Said {
            tone,
            text: text.into(),
        }
    }

    fn plain(text: impl Into<String>) -> Self {
        Said::new(Tone::Plain, text)
    }
}
