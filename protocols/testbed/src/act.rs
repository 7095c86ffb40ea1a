//! What a server does with a request: an answer of some shape, or a fault.

use std::time::Duration;

use crate::duration::parse_duration;
use crate::service::uniform;

/// What the server does with a request once its service time is over.
///
/// Each can be scripted by [`On`], and each has a path that asks for it (see [`Act::from_path`]), so
/// that a client can be tested against a server in another process.
///
/// # Examples
///
/// ```
/// use openloop_testbed::Act;
///
/// assert_eq!(Act::from_path("/status/503"), Some(Act::Status(503)));
/// assert_eq!(Act::from_path("/reset-mid-body"), Some(Act::ResetMidBody));
/// assert_eq!(Act::from_path("/anything/else"), None); // 200 with a short body
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Act {
    /// This status code, with a short body (none where the code forbids it). `/status/CODE`
    Status(u16),
    /// 200 with a body of so many bytes and its length declared. `/bytes/N`
    Bytes(usize),
    /// 200 with a body of so many bytes in chunks. `/chunked/N`
    Chunked(usize),
    /// 200 with the body of the request, and its content type. `/echo`
    Echo,
    /// Waits for so long beside the workers, then answers: requests that are all held at once.
    /// `/delay/DURATION`
    Delay(Duration),
    /// Never answers and leaves the connection open. `/never`
    Never,
    /// Resets the connection (RST) instead of answering. `/reset`
    Reset,
    /// Sends the head and half of the body, then resets the connection. `/reset-mid-body`
    ResetMidBody,
    /// Closes the connection (FIN) instead of answering. `/close`
    Close,
    /// Answers as for keep-alive and then closes at once: the race in which the next request of a
    /// client meets a closing connection. `/close-after`
    CloseAfter,
    /// Answers with `Connection: close`, and closes. `/connection-close`
    ConnectionClose,
    /// Answers as HTTP/1.0, without a length: the body ends where the connection does. `/http10`
    Http10,
    /// A status line that is none. `/bad-status-line`
    BadStatusLine,
    /// A chunked body whose second chunk has no size. `/bad-chunk`
    BadChunk,
    /// The whole answer byte by byte, spread over this time. `/slow/DURATION`
    Slow(Duration),
}

impl Act {
    /// The act that a request's path asks for, in the words given at each variant; the query is
    /// ignored.
    #[must_use]
    pub fn from_path(path: &str) -> Option<Self> {
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        let word = path.strip_prefix('/')?;
        let (name, argument) = word
            .split_once('/')
            .map_or((word, None), |(name, rest)| (name, Some(rest)));
        Some(match (name, argument) {
            ("status", Some(code)) => Self::Status(
                code.parse()
                    .ok()
                    .filter(|code| (200..=999).contains(code))?,
            ),
            ("bytes", Some(size)) => Self::Bytes(size.parse().ok()?),
            ("chunked", Some(size)) => Self::Chunked(size.parse().ok()?),
            ("delay", Some(time)) => Self::Delay(parse_duration(time).ok()?),
            ("slow", Some(time)) => Self::Slow(parse_duration(time).ok()?),
            ("echo", None) => Self::Echo,
            ("never", None) => Self::Never,
            ("reset", None) => Self::Reset,
            ("reset-mid-body", None) => Self::ResetMidBody,
            ("close", None) => Self::Close,
            ("close-after", None) => Self::CloseAfter,
            ("connection-close", None) => Self::ConnectionClose,
            ("http10", None) => Self::Http10,
            ("bad-status-line", None) => Self::BadStatusLine,
            ("bad-chunk", None) => Self::BadChunk,
            _ => return None,
        })
    }
}

/// Which requests an [`Act`] is for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum On {
    /// All of them.
    Always,
    /// The request with this number, counted from 0 in the order in which the server reads them.
    Request(u64),
    /// The n-th request and every n-th after it; 0 is none.
    Every(u64),
    /// A random share of all requests, in [0, 1], the same ones for the same seed.
    Share {
        /// The probability of each.
        share: f64,
        /// Makes the choice reproducible: it depends on this and the number of the request alone.
        seed: u64,
    },
    /// Those whose path begins so.
    Path(String),
}

impl On {
    pub(crate) fn matches(&self, number: u64, path: &str) -> bool {
        match self {
            Self::Always => true,
            Self::Request(wanted) => number == *wanted,
            Self::Every(every) => (number + 1).checked_rem(*every) == Some(0),
            Self::Share { share, seed } => uniform(*seed, number) < *share,
            Self::Path(prefix) => path.starts_with(prefix.as_str()),
        }
    }
}

/// The rules of a server, the first that matches deciding.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    rules: Vec<(On, Act)>,
}

impl Script {
    pub(crate) fn push(&mut self, on: On, act: Act) {
        self.rules.push((on, act));
    }

    pub(crate) fn acts(&self) -> impl Iterator<Item = &Act> {
        self.rules.iter().map(|(_, act)| act)
    }

    /// `None` stands for the ordinary answer: 200 and a short body.
    pub(crate) fn decide(&self, number: u64, path: &str) -> Option<Act> {
        let rule = self.rules.iter().find(|(on, _)| on.matches(number, path));
        rule.map(|(_, act)| act.clone())
            .or_else(|| Act::from_path(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_matches_decides_and_then_the_path() {
        let mut script = Script::default();
        script.push(On::Request(2), Act::Reset);
        script.push(On::Every(3), Act::Close);
        script.push(On::Path("/slow".to_owned()), Act::Never);
        assert_eq!(script.decide(2, "/"), Some(Act::Reset));
        assert_eq!(script.decide(5, "/status/500"), Some(Act::Close));
        assert_eq!(script.decide(6, "/slow/1ms"), Some(Act::Never));
        assert_eq!(script.decide(6, "/status/500?x=1"), Some(Act::Status(500)));
        assert_eq!(script.decide(6, "/"), None);
    }

    #[test]
    fn a_share_is_a_share_and_the_same_one_each_time() {
        let on = On::Share {
            share: 0.05,
            seed: 1,
        };
        let hits = |on: &On| {
            (0..100_000)
                .filter(|&n| on.matches(n, "/"))
                .collect::<Vec<_>>()
        };
        // Four standard deviations of a binomial: 4·√(n·p·(1 − p)) = 276.
        assert!(hits(&on).len().abs_diff(5000) < 276);
        assert_eq!(hits(&on), hits(&on));
        assert!(hits(&On::Every(0)).is_empty());
        assert_eq!(
            hits(&On::Share {
                share: 1.0,
                seed: 1
            })
            .len(),
            100_000
        );
    }

    #[test]
    fn paths_with_bad_arguments_are_ordinary_paths() {
        for path in [
            "/status/x",
            "/status/42",
            "/bytes/-1",
            "/delay/soon",
            "/reset/",
            "x",
            "",
        ] {
            assert_eq!(Act::from_path(path), None, "{path}");
        }
        assert_eq!(
            Act::from_path("/delay/1.5s"),
            Some(Act::Delay(Duration::from_millis(1500)))
        );
    }
}
