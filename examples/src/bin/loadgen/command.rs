//! The command line, for the report.

/// The command line, quoted as a shell needs it, without what may be secret: the values of headers.
pub(crate) fn shown(words: impl Iterator<Item = String>) -> String {
    let mut shown = Vec::new();
    let mut is_header = false;
    for (index, word) in words.enumerate() {
        let word = if index == 0 {
            "loadgen".to_owned()
        } else if is_header {
            masked(&word)
        } else if let Some(header) = word.strip_prefix("--header=") {
            format!("--header={}", masked(header))
        } else {
            word.clone()
        };
        is_header = !is_header && word == "--header";
        shown.push(quoted(&word));
    }
    shown.join(" ")
}

fn masked(header: &str) -> String {
    let name = header.split(':').next().unwrap_or_default();
    format!("{name}: ***")
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
        shown(words.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn it_can_be_pasted_into_a_shell() {
        let words = [
            "/t/loadgen",
            "http",
            "http://a/{key}",
            "--slo",
            "p99<=1s",
            "--body",
            "it's",
        ];
        assert_eq!(
            shown_of(&words),
            r"loadgen http 'http://a/{key}' --slo 'p99<=1s' --body 'it'\''s'"
        );
    }

    #[test]
    fn what_headers_say_is_nobodys_business() {
        let words = [
            "x",
            "--header",
            "authorization: secret",
            "--header=cookie: secret",
            "--quiet",
        ];
        let shown = shown_of(&words);
        assert_eq!(
            shown,
            "loadgen --header 'authorization: ***' '--header=cookie: ***' --quiet"
        );
    }
}
