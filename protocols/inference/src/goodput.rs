//! Which answers are good enough.

use crate::Course;
use openloop_sched::{DurationError, parse_duration};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use tokio::time::Instant;

/// Bounds that an answer must all keep to be good: goodput is the share, and the rate, of those that do.
///
/// Of all arrivals: one that failed is not good, and one of a single token, which has no time between tokens, keeps any
/// bound on that.
///
/// ```
/// use openloop_inference::Goodput;
///
/// let goodput: Goodput = "ttft<=200ms, tpot<=25ms".parse()?;
/// assert_eq!(goodput.to_string(), "ttft<=200ms, tpot<=25ms");
/// assert!("itl<=1ms".parse::<Goodput>().is_err());
/// # Ok::<(), openloop_inference::GoodputError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goodput(Vec<(Of, Duration)>);

/// What a bound is on: one number of each answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Ttft,
    TtftSent,
    Tpot,
    E2e,
    E2eSent,
    Ntpot,
}

const NAMES: [(&str, Of); 6] = [
    ("ttft", Of::Ttft),
    ("ttft_sent", Of::TtftSent),
    ("tpot", Of::Tpot),
    ("e2e", Of::E2e),
    ("e2e_sent", Of::E2eSent),
    ("ntpot", Of::Ntpot),
];

/// Why a text states no bounds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GoodputError {
    /// Not `NAME<=TIME`.
    #[error("\"{0}\" is no bound of an answer: write such as ttft<=200ms, tpot<=25ms")]
    Form(String),
    /// No metric that has one number for each answer.
    #[error(
        "\"{0}\" has no one number for each answer: bound ttft, ttft_sent, tpot, e2e, e2e_sent or ntpot"
    )]
    Metric(String),
    /// No time.
    #[error(transparent)]
    Time(#[from] DurationError),
}

impl Goodput {
    /// Whether nothing is bounded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an answer that should have started at `intended` keeps all bounds.
    #[must_use]
    pub fn is_good(&self, course: &Course, intended: Instant) -> bool {
        let since = |at: Option<Instant>, from| at.map(|at| at.saturating_duration_since(from));
        let (first, last) = (course.first_token(), course.last_token());
        self.0.iter().all(|(of, limit)| {
            let value = match of {
                Of::Ttft => since(first, intended),
                Of::TtftSent => since(first, course.sent()),
                Of::E2e => since(last, intended),
                Of::E2eSent => since(last, course.sent()),
                Of::Tpot => course.time_per_output_token().or(Some(Duration::ZERO)),
                Of::Ntpot => {
                    let tokens = course.output_tokens().map_or(1, |(n, _)| n.max(1));
                    let whole = since(last, course.sent());
                    // No answer has 2³² tokens.
                    whole.map(|whole| whole / u32::try_from(tokens).unwrap_or(u32::MAX))
                }
            };
            value.is_some_and(|value| value <= *limit)
        })
    }
}

impl FromStr for Goodput {
    type Err = GoodputError;

    fn from_str(text: &str) -> Result<Self, GoodputError> {
        let bounds = text.split(',').map(|bound| {
            let form = || GoodputError::Form(bound.trim().to_owned());
            let (name, limit) = bound.split_once("<=").ok_or_else(form)?;
            let (name, limit) = (name.trim(), limit.trim());
            let of = NAMES.iter().find(|(known, _)| *known == name);
            let (_, of) = of.ok_or_else(|| GoodputError::Metric(name.to_owned()))?;
            Ok((*of, parse_duration(limit)?))
        });
        bounds.collect::<Result<_, _>>().map(Goodput)
    }
}

impl fmt::Display for Goodput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (of, limit)) in self.0.iter().enumerate() {
            let name = NAMES.iter().find(|(_, known)| known == of);
            let name = name.map_or("", |(name, _)| *name);
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{name}<={limit:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Content;

    #[test]
    fn an_answer_is_good_when_it_keeps_every_bound_to_the_nanosecond() {
        let intended = Instant::now();
        let at = |ms| intended + Duration::from_millis(ms);
        let mut course = Course::new(at(20));
        course.tokens(at(70), Content::Visible, None);
        course.tokens(at(90), Content::Visible, None);
        course.finish(Some(2), false);
        for (bounds, good) in [
            ("ttft<=70ms", true),
            ("ttft<=69.999999ms", false),
            ("ttft_sent<=50ms", true),
            ("ttft_sent<=49ms", false),
            ("tpot<=20ms", true),
            ("tpot<=19ms", false),
            ("e2e<=90ms, e2e_sent<=70ms, ntpot<=35ms", true),
            ("ntpot<=34ms", false),
            ("ttft<=1s, tpot<=1ms", false),
        ] {
            let goodput: Goodput = bounds.parse().unwrap();
            assert_eq!(goodput.is_good(&course, intended), good, "{bounds}");
        }
    }

    #[test]
    fn one_token_keeps_a_bound_on_the_time_between_tokens_and_none_keeps_nothing() {
        let intended = Instant::now();
        let mut course = Course::new(intended);
        let (tpot, ttft) = (
            "tpot<=1ns".parse::<Goodput>().unwrap(),
            "ttft<=1s".parse::<Goodput>(),
        );
        assert!(!ttft.unwrap().is_good(&course, intended));
        course.tokens(intended, Content::Visible, None);
        course.finish(Some(1), false);
        assert!(tpot.is_good(&course, intended));
    }

    #[test]
    fn what_states_no_bound_is_named() {
        let refused = |text: &str| text.parse::<Goodput>().unwrap_err().to_string();
        assert!(refused("ttft=3ms").contains("ttft=3ms"));
        assert!(refused("itl<=3ms").contains("itl"));
        assert!(refused("ttft<=3").contains("unit"));
        assert!("ttft<=-3ms".parse::<Goodput>().is_err());
        assert!(refused("").contains("ttft<=200ms"));
    }
}
