//! The command line, for the report.

use std::ffi::OsString;

/// The command line, quoted as a shell needs it, without what may be secret: the values of headers and metadata, the body
/// or message, and users and passwords in URLs.
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
            (word.clone(), word)
        };
        shown.push(quoted(&without_password(&word)));
        flag = next_flag;
    }
    shown.join(" ")
}

/// What is shown for a value of `flag` that may be secret; `None` for other flags.
fn masked(flag: &str, value: &str) -> Option<String> {
    match flag {
        "--header" | "--metadata" => {
            let name = value.split(':').next().unwrap_or_default();
            Some(format!("{name}: ***"))
        }
        "--body" | "--data" => Some("***".to_owned()),
        _ => None,
    }
}

/// A URL without the user and password in it, a connection string without its `password=`; anything else as it is.
pub(crate) fn without_password(word: &str) -> String {
    let is_connection = ["://", "host=", "user="]
        .iter()
        .any(|part| word.contains(part));
    match is_connection && word.contains("password=") {
        true => without_user(&without_setting(word, "password=")),
        false => without_user(word),
    }
}

fn without_setting(word: &str, setting: &str) -> String {
    let mut parts = word.split(setting);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let quoted = part.strip_prefix('\'').and_then(|rest| rest.find('\''));
        let end = match quoted {
            Some(end) => end + 2,
            None => part
                .find(|c: char| c == '&' || c.is_whitespace())
                .unwrap_or(part.len()),
        };
        shown.push_str(setting);
        shown.push_str("***");
        shown.push_str(&part[end..]);
    }
    shown
}

fn without_user(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else {
        return word.to_owned();
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((secret, _)) => format!("{scheme}://***{}", &rest[secret.len()..]),
        None => word.to_owned(),
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
    fn a_password_in_a_url_is_nobodys_business() {
        for (url, shown) in [
            ("redis://:secret@host:1/0", "redis://***@host:1/0"),
            (
                "postgres://u@h/d?password=pw&x=1",
                "postgres://***@h/d?password=***&x=1",
            ),
            ("host=h password=pw user=u", "host=h password=*** user=u"),
            ("user=u password='p w' host=h", "user=u password=*** host=h"),
            (
                "SELECT password=1 FROM users",
                "SELECT password=1 FROM users",
            ),
            ("redis://me:se@cret@host", "redis://***@host"),
            ("redis://host/a@b", "redis://host/a@b"),
            ("me@host", "me@host"),
        ] {
            assert_eq!(without_password(url), shown);
        }
        let shown = shown_of(&["x", "redis", "redis://:secret@host"]);
        assert_eq!(shown, "loadgen redis 'redis://***@host'");
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
            "--metadata",
            "authorization: secret",
            "--data",
            "secret",
            "--quiet",
        ];
        let shown = shown_of(&words);
        assert_eq!(
            shown,
            "loadgen --header 'authorization: ***' '--header=cookie: ***' --body '***' '--body=***' --metadata 'authorization: ***' --data '***' --quiet"
        );
    }
}
