//! The command line, for the report.

use std::ffi::OsString;

/// The command line, quoted as a shell needs it, without what may be secret: passwords, the values of headers, and the
/// body.
///
/// What is not UTF-8 is shown with replacement characters.
pub(crate) fn shown(words: impl Iterator<Item = OsString>) -> String {
    let mut shown = vec!["loadgen".to_owned()];
    let mut flag = String::new();
    for word in words.skip(1) {
        let word = word.to_string_lossy().into_owned();
        let inline = word.split_once('=');
        let (word, next_flag) = if let Some(masked) = masked(&flag, &word) {
            (masked, String::new())
        } else if let Some((name, value)) = inline
            && let Some(masked) = masked(name, value)
        {
            (format!("{name}={masked}"), String::new())
        } else {
            (without_password(&word), word)
        };
        shown.push(quoted(&word));
        flag = next_flag;
    }
    shown.join(" ")
}

/// A URL or connection string with `***` for its password; any other text as it is.
pub(crate) fn without_password(text: &str) -> String {
    let mut shown = text.to_owned();
    if let Some(begin) = shown.find("://").map(|at| at + 3) {
        let end = shown[begin..].find(['/', '?', '#']);
        let authority = end.map_or(&shown[begin..], |end| &shown[begin..begin + end]);
        if let Some(at) = authority.rfind('@')
            && let Some(colon) = authority[..at].find(':')
        {
            shown.replace_range(begin + colon + 1..begin + at, "***");
        }
    }
    if shown.contains("://") || shown.contains("host=") || shown.contains("user=") {
        let mut from = 0;
        while let Some(at) = shown[from..].find("password=") {
            let begin = from + at + "password=".len();
            let quoted = shown[begin..]
                .strip_prefix('\'')
                .and_then(|rest| rest.find('\''));
            let length = match quoted {
                Some(end) => end + 2,
                None => shown[begin..]
                    .find(|c: char| c == '&' || c.is_whitespace())
                    .unwrap_or(shown.len() - begin),
            };
            shown.replace_range(begin..begin + length, "***");
            from = begin;
        }
    }
    shown
}

/// What is shown for a value of `flag` that may be secret; `None` for other flags.
fn masked(flag: &str, value: &str) -> Option<String> {
    match flag {
        "--header" => {
            let name = value.split(':').next().unwrap_or_default();
            Some(format!("{name}: ***"))
        }
        "--body" => Some("***".to_owned()),
        _ => None,
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,%@+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_of(words: &[&str]) -> String {
        shown(words.iter().map(OsString::from))
    }

    #[test]
    fn it_can_be_pasted_into_a_shell() {
        let words = [
            "/t/loadgen",
            "http",
            "http://a/{key}",
            "--slo",
            "p99<=1s",
            "--json",
            "it's",
        ];
        assert_eq!(
            shown_of(&words),
            r"loadgen http 'http://a/{key}' --slo 'p99<=1s' --json 'it'\''s'"
        );
    }

    #[test]
    fn what_headers_and_bodies_say_is_nobodys_business() {
        let words = [
            "x",
            "--header",
            "authorization: secret",
            "--header=cookie: secret",
            "--body",
            "secret",
            "--body=secret=1",
            "--quiet",
        ];
        let shown = shown_of(&words);
        assert_eq!(
            shown,
            "loadgen --header 'authorization: ***' '--header=cookie: ***' --body '***' '--body=***' --quiet"
        );
    }

    #[test]
    fn passwords_are_not_shown() {
        for (given, shown) in [
            ("postgres://u:p:@w@h:5432/d", "postgres://u:***@h:5432/d"),
            (
                "postgres://u@h/d?password=pw&x=1",
                "postgres://u@h/d?password=***&x=1",
            ),
            ("host=h password=pw user=u", "host=h password=*** user=u"),
            ("user=u password='p w' host=h", "user=u password=*** host=h"),
            ("http://h/a:b@c?password=1", "http://h/a:b@c?password=***"),
            ("SELECT password FROM users", "SELECT password FROM users"),
        ] {
            assert_eq!(without_password(given), shown);
        }
    }
}
