//! How bounds are written.

use super::SloError;
use super::bound::{Bound, Limit, Statistic};
use crate::series::Metric;
use openloop_measurer::Quantile;
use openloop_sched::parse_duration;

/// The bounds in a text: it is parted by commas, but not by those in parentheses or in the name of a kind.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest[from..].find([',', '[', '(']).map(|at| from + at) {
        match rest.as_bytes()[at] {
            b',' => {
                parts.push(&rest[..at]);
                (rest, from) = (&rest[at + 1..], 0);
            }
            // What does not end is of the bound that begins here, which says so.
            b'(' => from = rest[at..].find(')').map_or(rest.len(), |end| at + end),
            _ => {
                from = bracketed(&rest[at..])
                    .map_or(rest.len(), |(_, after)| rest.len() - after.len());
            }
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
pub(super) fn bound(text: &str) -> Result<Bound, SloError> {
    let form = || SloError::Form(text.trim().to_owned());
    // What a good answer keeps has signs of its own.
    if let Some(inside) = text.trim_start().strip_prefix("goodput(") {
        let (good, rest) = inside.split_once(')').ok_or_else(form)?;
        if good.trim().is_empty() {
            return Err(form());
        }
        return bound(&format!("goodput{rest}")).map(|bound| bound.where_good(good.trim()));
    }
    let (what, kind, rest) = match text.find(['[', '<', '>']) {
        Some(at) if text[at..].starts_with('[') => {
            let malformed = || SloError::Kind(text.trim().to_owned());
            let (kind, rest) = bracketed(&text[at..]).ok_or_else(malformed)?;
            (&text[..at], Some(kind), rest.trim_start())
        }
        Some(at) => (&text[..at], None, &text[at..]),
        None => return Err(form()),
    };
    let (metric, statistic) = subject(what.trim())?;
    let sign = match statistic.is_at_least() {
        true => ">=",
        false => "<=",
    };
    let allowed = rest.strip_prefix(sign).ok_or_else(form)?.trim();
    let statistic = of_unit(statistic, allowed);
    let limit = limit(statistic, allowed)?;
    Ok(Bound {
        kind,
        ..Bound::new(metric, statistic, limit)
    })
}

/// The statistic of a limit in that unit: goodput is a share, or a rate.
pub(super) fn of_unit(statistic: Statistic, allowed: &str) -> Statistic {
    match statistic {
        Statistic::Goodput if allowed.ends_with("/s") => Statistic::GoodputRate,
        other => other,
    }
}

/// The metric and the statistic in `ttft.p99`, `p99`, `mean`, `errors`, `achieved`, `goodput`.
pub(super) fn subject(what: &str) -> Result<(Metric, Statistic), SloError> {
    match what {
        "errors" => return Ok((Metric::ResponseSlo, Statistic::Errors)),
        "achieved" => return Ok((Metric::ResponseSlo, Statistic::Achieved)),
        "goodput" => return Ok((Metric::ResponseSlo, Statistic::Goodput)),
        _ => {}
    }
    // The statistic is the last word; a quantile such as p99.9 has a point of its own.
    let (metric, statistic) = match what.find(".p").or_else(|| what.find(".mean")) {
        Some(point) => (&what[..point], &what[point + 1..]),
        None => ("response_slo", what),
    };
    let statistic = match statistic {
        "mean" => Statistic::Mean,
        quantile => match quantile.parse::<Quantile>() {
            // Above the largest lies nothing that could tell how sure it is.
            Ok(q) if q.as_f64() >= 1.0 => return Err(SloError::Statistic(what.to_owned())),
            Ok(q) => Statistic::Quantile(q),
            Err(error) if quantile.starts_with('p') => return Err(error.into()),
            Err(_) => return Err(SloError::Statistic(what.to_owned())),
        },
    };
    Ok((metric.parse().unwrap_or(Metric::ResponseSlo), statistic))
}

/// The limit of a statistic: `50ms`, `4S`, `max(4S, 2ms)`, `0.1%`, `99%`, `950/s`.
pub(super) fn limit(statistic: Statistic, text: &str) -> Result<Limit, SloError> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match statistic {
        Statistic::Errors | Statistic::Goodput => {
            let share = match text.strip_suffix('%') {
                Some(percent) => number(percent).map(|percent| percent / 100.0),
                None => number(text),
            };
            let share = share.ok_or_else(|| match statistic {
                Statistic::Goodput => SloError::Good(text.to_owned()),
                _ => SloError::Share(text.to_owned()),
            })?;
            Ok(Limit::Fixed(share))
        }
        Statistic::Achieved | Statistic::GoodputRate => {
            let rate = text.strip_suffix("/s").and_then(number);
            let rate = rate.ok_or_else(|| SloError::Rate(text.to_owned()))?;
            Ok(Limit::Fixed(rate))
        }
        Statistic::Quantile(_) | Statistic::Mean => of_latency(text),
    }
}

fn of_latency(text: &str) -> Result<Limit, SloError> {
    let multiple = |text: &str| text.trim().strip_suffix('S')?.trim().parse::<f64>().ok();
    if let Some(times) = multiple(text) {
        return Ok(Limit::OfFloor {
            times,
            at_least_ns: 0.0,
        });
    }
    if let Some(inside) = text.strip_prefix("max").map(str::trim_start) {
        let inside = inside.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        let (a, b) = inside
            .and_then(|inside| inside.split_once(','))
            .ok_or_else(|| SloError::Greater(text.to_owned()))?;
        let (times, least) = match (multiple(a), multiple(b)) {
            (Some(times), None) => (times, b),
            (None, Some(times)) => (times, a),
            _ => return Err(SloError::Greater(text.to_owned())),
        };
        let at_least_ns = parse_duration(least)?.as_nanos() as f64;
        return Ok(Limit::OfFloor { times, at_least_ns });
    }
    Ok(Limit::Fixed(parse_duration(text)?.as_nanos() as f64))
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metric, Slo};
    use openloop_measurer::Quantile;
    use std::time::Duration;

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
    fn goodput_is_a_share_or_a_rate_and_may_say_what_is_good() {
        let text = "goodput>=99%, goodput >= 40/s,goodput( ttft<=200ms, tpot<=25ms )[chat] >= 0.95,errors<=1%";
        let slo: Slo = text.parse().unwrap();
        let good = Bound::goodput(0.95)
            .where_good("ttft<=200ms, tpot<=25ms")
            .of_kind("chat");
        let expected = [
            Bound::goodput(0.99),
            Bound::goodput_rate(40.0),
            good,
            Bound::errors(0.01),
        ];
        assert_eq!(slo.bounds(), expected);
        let shown: Vec<_> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown[..3],
            [
                "goodput >= 99 %",
                "goodput >= 40/s",
                "goodput(ttft<=200ms, tpot<=25ms)[chat] >= 95 %"
            ]
        );
        // As it is shown, and as it is stored, it reads as it was.
        assert_eq!(shown.join(", ").parse::<Slo>().unwrap(), slo);
        assert_eq!(slo.to_string().parse::<Slo>().unwrap(), slo);
        for (text, named) in [
            ("goodput<=99%", "goodput>=99%"),
            ("goodput>=many", "99%"),
            ("goodput>=101%", "out of range"),
            ("goodput>=0", "out of range"),
            ("goodput(ttft<=1ms>=99%", "goodput(ttft<=1ms>=99%"),
            ("goodput()>=99%", "goodput()"),
        ] {
            let error = text.parse::<Slo>().unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
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
