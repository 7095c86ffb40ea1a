//! One bound of an objective, and how it is written.

use super::SloError;
use crate::series::Metric;
use openloop_measurer::Quantile;
use openloop_sched::parse_duration;
use std::fmt;
use std::time::Duration;

/// What a bound is on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Statistic {
    /// A quantile of a latency.
    Quantile(Quantile),
    /// The mean of a latency.
    Mean,
    /// The share of arrivals that were not served.
    Errors,
}

/// One bound: a statistic of a metric, and the most that it may be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// Of which latency; that of an objective, [`Metric::ResponseSlo`], unless another is named.
    pub metric: Metric,
    /// Of which kind of request, by its name; `None` for all together.
    pub kind: Option<String>,
    /// Which statistic.
    pub statistic: Statistic,
    /// The most that it may be: nanoseconds, or a share for [`Statistic::Errors`].
    pub limit: f64,
}

impl Bound {
    /// `metric`'s quantile `q` may be at most `limit`.
    #[must_use]
    pub fn quantile(metric: Metric, q: Quantile, limit: Duration) -> Self {
        Bound {
            metric,
            kind: None,
            statistic: Statistic::Quantile(q),
            limit: limit.as_nanos() as f64,
        }
    }

    /// The same bound on one kind of request alone.
    #[must_use]
    pub fn of_kind(mut self, name: impl Into<String>) -> Self {
        self.kind = Some(name.into());
        self
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.metric != Metric::ResponseSlo {
            write!(f, "{}.", self.metric)?;
        }
        let kind = self.kind.as_deref().map(Brackets);
        let kind = kind.map_or_else(String::new, |kind| kind.to_string());
        match self.statistic {
            Statistic::Quantile(q) => write!(f, "{q}{kind} <= {}", Ns(self.limit)),
            Statistic::Mean => write!(f, "mean{kind} <= {}", Ns(self.limit)),
            Statistic::Errors => {
                let percent = (self.limit * 1e10).round() / 1e8;
                write!(f, "errors{kind} <= {percent} %")
            }
        }
    }
}

/// A kind of request as it stands in a bound.
struct Brackets<'a>(&'a str);

impl fmt::Display for Brackets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0;
        let is_plain = !name.contains(['[', ']', '"']) && name.trim() == name && !name.is_empty();
        if is_plain {
            return write!(f, "[{name}]");
        }
        let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
        write!(f, "[\"{escaped}\"]")
    }
}

/// The bounds in a text: it is parted by commas, but not by those in the name of a kind.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest[from..].find([',', '[']).map(|at| from + at) {
        if rest[at..].starts_with(',') {
            parts.push(&rest[..at]);
            (rest, from) = (&rest[at + 1..], 0);
        } else {
            // Brackets that do not end are of the bound that begins here, which says so.
            from = bracketed(&rest[at..]).map_or(rest.len(), |(_, after)| rest.len() - after.len());
        }
    }
    parts.push(rest);
    parts
}

/// The name in the brackets with which `text` begins, and what stands after them. `None` if they do not end, or hold
/// no name.
fn bracketed(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('[')?;
    let Some(quoted) = inside.trim_start().strip_prefix('"') else {
        let (name, after) = inside.split_once(']')?;
        let name = name.trim();
        return (!name.is_empty()).then(|| (name.to_owned(), after));
    };
    let mut name = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' => break,
            '\\' => name.push(characters.next()?),
            other => name.push(other),
        }
    }
    let after = characters.as_str().trim_start().strip_prefix(']')?;
    (!name.is_empty()).then_some((name, after))
}

/// The bound that a text states.
pub(super) fn parse(text: &str) -> Result<Bound, SloError> {
    let form = || SloError::Form(text.trim().to_owned());
    let (what, kind, rest) = match text.find(['[', '<']) {
        Some(at) if text[at..].starts_with('[') => {
            let malformed = || SloError::Kind(text.trim().to_owned());
            let (kind, rest) = bracketed(&text[at..]).ok_or_else(malformed)?;
            (&text[..at], Some(kind), rest)
        }
        Some(at) => (&text[..at], None, &text[at..]),
        None => return Err(form()),
    };
    let limit = rest.trim_start().strip_prefix("<=").ok_or_else(form)?;
    let (what, limit) = (what.trim(), limit.trim());
    if what == "errors" {
        let (number, scale) = match limit.strip_suffix('%') {
            Some(percent) => (percent.trim(), 100.0),
            None => (limit, 1.0),
        };
        let share: f64 = number
            .parse()
            .map_err(|_| SloError::Share(limit.to_owned()))?;
        return Ok(Bound {
            metric: Metric::ResponseSlo,
            kind,
            statistic: Statistic::Errors,
            limit: share / scale,
        });
    }
    // The statistic is the last word; a quantile such as p99.9 has a point of its own.
    let (metric, statistic) = match what.find(".p").or_else(|| what.find(".mean")) {
        Some(point) => (&what[..point], &what[point + 1..]),
        None => ("response_slo", what),
    };
    let statistic = match statistic {
        "mean" => Statistic::Mean,
        quantile => Statistic::Quantile(quantile.parse()?),
    };
    let multiple = limit.strip_suffix('S').map(str::parse::<f64>);
    if multiple.is_some_and(|multiple| multiple.is_ok()) {
        return Err(SloError::NoFloor(limit.to_owned()));
    }
    let limit = parse_duration(limit)?;
    Ok(Bound {
        metric: metric.parse().unwrap_or(Metric::ResponseSlo),
        kind,
        statistic,
        limit: limit.as_nanos() as f64,
    })
}

/// Nanoseconds in a unit that a person reads.
pub(crate) struct Ns(pub(crate) f64);

impl fmt::Display for Ns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            ns if ns < 1e3 => (ns, "ns"),
            ns if ns < 1e6 => (ns / 1e3, "µs"),
            ns if ns < 1e9 => (ns / 1e6, "ms"),
            ns => (ns / 1e9, "s"),
        };
        let digits = match value {
            value if value >= 100.0 => 0,
            value if value >= 10.0 => 1,
            _ => 2,
        };
        let text = format!("{value:.digits$}");
        let text = match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.'),
            false => &text,
        };
        write!(f, "{text} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Slo;

    fn bounds(text: &str) -> Vec<(Option<String>, String)> {
        let slo: Slo = text.parse().unwrap();
        let told = |bound: &Bound| (bound.kind.clone(), bound.to_string());
        slo.bounds().iter().map(told).collect()
    }

    #[test]
    fn a_bound_may_be_on_one_kind_of_request() {
        let read = Some("read".to_owned());
        assert_eq!(
            bounds("p99[read]<=5ms, errors[read] <= 0.1%, connect.p99.9[ read ]<=2ms,mean<=1s"),
            [
                (read.clone(), "p99[read] <= 5 ms".to_owned()),
                (read.clone(), "errors[read] <= 0.1 %".to_owned()),
                (read, "connect.p99.9[read] <= 2 ms".to_owned()),
                (None, "mean <= 1 s".to_owned()),
            ]
        );
    }

    #[test]
    fn any_name_of_a_kind_is_read_as_it_is_written() {
        for name in [
            "GET /a, then /b",
            "list[0]",
            "]",
            "say \"hi\", \\ and go",
            " blank ",
            "a<=b",
            "\\",
            "größer, kleiner",
        ] {
            let limit = Duration::from_millis(5);
            let bound = Bound::quantile(Metric::ResponseSlo, Quantile::P99, limit).of_kind(name);
            let text = format!("mean<=3ms, {bound}, p50[x]<=1ms");
            assert_eq!(bounds(&text).len(), 3, "{text}");
            assert_eq!(bounds(&text)[1].0.as_deref(), Some(name), "{text}");
        }
    }

    #[test]
    fn brackets_without_an_end_or_a_name_are_refused() {
        for text in [
            "p99[read<=5ms",
            "p99[]<=5ms",
            "p99[\"\"]<=5ms",
            "p99[\"read]<=5ms, p50<=1ms",
        ] {
            let error = text.parse::<Slo>().unwrap_err();
            assert_eq!(error, SloError::Kind(text.to_owned()));
        }
        for text in ["p99[read]=5ms", "p99[read] 5ms <= 3ms", "p99 5ms"] {
            let error = text.parse::<Slo>().unwrap_err();
            assert_eq!(error, SloError::Form(text.to_owned()));
        }
    }
}
