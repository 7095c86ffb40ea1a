//! How status codes are counted.

use http::StatusCode;
use openloop_measurer::Verdict;

const FIRST: usize = 100;
const CODES: usize = 500;
const WIDTH: usize = "http_100".len();

static TEXT: [u8; CODES * WIDTH] = text();
static NAMES: [&str; CODES] = names();

const fn text() -> [u8; CODES * WIDTH] {
    let mut text = [0; CODES * WIDTH];
    let mut code = 0;
    while code < CODES {
        let prefix = *b"http_";
        let mut at = 0;
        while at < prefix.len() {
            text[code * WIDTH + at] = prefix[at];
            at += 1;
        }
        let mut rest = FIRST + code;
        while at < WIDTH {
            let place = WIDTH - 1 - (at - prefix.len());
            text[code * WIDTH + place] = DIGITS[rest % 10];
            rest /= 10;
            at += 1;
        }
        code += 1;
    }
    text
}

const DIGITS: [u8; 10] = *b"0123456789";

const fn names() -> [&'static str; CODES] {
    let mut names = ["http_other"; CODES];
    let mut rest: &[u8] = &TEXT;
    let mut code = 0;
    while code < CODES {
        let (name, after) = rest.split_at(WIDTH);
        if let Ok(name) = std::str::from_utf8(name) {
            names[code] = name;
        }
        rest = after;
        code += 1;
    }
    names
}

/// The class of a status code: `"http_404"`, and `"http_other"` from 600 on.
#[must_use]
pub fn class(status: StatusCode) -> &'static str {
    let code = usize::from(status.as_u16());
    code.checked_sub(FIRST)
        .and_then(|index| NAMES.get(index))
        .unwrap_or(&"http_other")
}

/// How an answer with this status is counted.
///
/// | status | counts as |
/// | --- | --- |
/// | 1xx, 2xx, 3xx | `Ok`; a redirect is the answer that was asked for, it is not followed |
/// | 429, 503 | `Rejected("http_429")`, `Rejected("http_503")`: the server sheds load |
/// | other 4xx and 5xx | `Failed("http_404")` and so on |
/// | 600 and above | `Failed("http_other")` |
#[must_use]
pub fn verdict(status: StatusCode) -> Verdict {
    match status.as_u16() {
        100..=399 => Verdict::Ok,
        429 | 503 => Verdict::Rejected(class(status)),
        _ => Verdict::Failed(class(status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: u16) -> Verdict {
        verdict(StatusCode::from_u16(code).unwrap())
    }

    #[test]
    fn every_code_has_its_own_class() {
        for code in 100..600 {
            let status = StatusCode::from_u16(code).unwrap();
            assert_eq!(class(status), format!("http_{code}"));
        }
        assert_eq!(class(StatusCode::from_u16(999).unwrap()), "http_other");
    }

    #[test]
    fn overload_is_rejected_and_other_errors_are_failed() {
        let expected = [
            (101, Verdict::Ok),
            (200, Verdict::Ok),
            (302, Verdict::Ok),
            (399, Verdict::Ok),
            (400, Verdict::Failed("http_400")),
            (404, Verdict::Failed("http_404")),
            (429, Verdict::Rejected("http_429")),
            (500, Verdict::Failed("http_500")),
            (503, Verdict::Rejected("http_503")),
            (504, Verdict::Failed("http_504")),
            (600, Verdict::Failed("http_other")),
        ];
        for (code, verdict) in expected {
            assert_eq!(of(code), verdict, "{code}");
        }
    }
}
