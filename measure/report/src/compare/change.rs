//! One figure of two reports.

use crate::words::Tone;
use crate::words::units::{Ns, percent, rate};

/// One figure of both.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// Which: `response p99`.
    pub name: String,
    /// In what it is.
    pub unit: ChangeUnit,
    /// Of A, and whether it is a lower bound; `None` where there is none.
    pub a: Option<(f64, bool)>,
    /// Of B, likewise.
    pub b: Option<(f64, bool)>,
    /// What the data say.
    pub verdict: ChangeVerdict,
    /// B as a multiple of A, with its 98 % interval; of shares, B less A.
    pub difference: Option<(f64, [f64; 2])>,
}

/// In what a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// A share, from 0 to 1.
    Share,
    /// Per second.
    Rate,
}

/// What the data say of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeVerdict {
    /// B is better.
    Better,
    /// B is worse.
    Worse,
    /// They show no difference; there may be one.
    NoDifference,
    /// They cannot tell, and why.
    Unknown(String),
    /// The figure is shown, and not judged.
    NotJudged,
}

impl Change {
    pub(crate) fn text_a(&self) -> String {
        self.text_of(self.a)
    }

    pub(crate) fn text_b(&self) -> String {
        self.text_of(self.b)
    }

    fn text_of(&self, figure: Option<(f64, bool)>) -> String {
        let Some((value, is_bound)) = figure else {
            return "none".to_owned();
        };
        let bound = if is_bound { "≥ " } else { "" };
        let text = match self.unit {
            ChangeUnit::Nanoseconds => Ns(value).to_string(),
            ChangeUnit::Share => percent(value),
            ChangeUnit::Rate => rate(value),
        };
        format!("{bound}{text}")
    }

    /// `+12 %`, or of shares `+0.3 %` of all arrivals.
    pub(crate) fn ratio_text(&self) -> String {
        match self.difference {
            Some((point, _)) => self.signed(point),
            None => match (self.a, self.b, self.unit) {
                (
                    Some((a, false)),
                    Some((b, false)),
                    ChangeUnit::Nanoseconds | ChangeUnit::Rate,
                ) if a > 0.0 => signed_percent(b / a - 1.0),
                _ => String::new(),
            },
        }
    }

    pub(crate) fn interval_text(&self) -> String {
        let interval = self
            .difference
            .map(|(_, interval)| interval.map(|end| self.signed(end)));
        interval.map_or(String::new(), |[low, high]| format!("{low} to {high}"))
    }

    fn signed(&self, change: f64) -> String {
        match self.unit {
            ChangeUnit::Share => signed_percent(change),
            ChangeUnit::Nanoseconds | ChangeUnit::Rate => signed_percent(change - 1.0),
        }
    }

    pub(crate) fn tone(&self) -> Tone {
        match self.verdict {
            ChangeVerdict::Better => Tone::Good,
            ChangeVerdict::Worse => Tone::Bad,
            ChangeVerdict::Unknown(_) => Tone::Doubtful,
            ChangeVerdict::NoDifference | ChangeVerdict::NotJudged => Tone::Plain,
        }
    }

    pub(crate) fn verdict_text(&self) -> String {
        match &self.verdict {
            ChangeVerdict::Better => "better".to_owned(),
            ChangeVerdict::Worse => "worse".to_owned(),
            ChangeVerdict::NoDifference => "no difference that these data can show".to_owned(),
            ChangeVerdict::Unknown(why) => format!("unknown: {why}"),
            ChangeVerdict::NotJudged => String::new(),
        }
    }
}

fn signed_percent(change: f64) -> String {
    let percent = 100.0 * change;
    let digits = match percent.abs() {
        big if big >= 9.95 => 0,
        middle if middle >= 0.995 => 1,
        _ => 2,
    };
    let text = format!("{percent:+.digits$} %");
    match text.as_str() {
        "+0.00 %" | "-0.00 %" => "0 %".to_owned(),
        _ => text.replace('-', "−"),
    }
}
