//! Parameters in SQL: `{key}` becomes `$1`, so that a key is never part of the text.

const KEY: &str = "{key}";

/// The SQL with `$1` for each `{key}`, and whether there is one.
///
/// # Errors
/// When one stands where no parameter can: in a text or a quoted name.
pub(crate) fn bind(sql: &str) -> Result<(String, bool), String> {
    let mut bound = String::with_capacity(sql.len());
    let mut has_key = false;
    let mut rest = sql;
    while !rest.is_empty() {
        let (length, is_literal) = piece(rest);
        let (text, after) = rest.split_at(length);
        if is_literal {
            if text.contains(KEY) && !text.starts_with("--") && !text.starts_with("/*") {
                return Err(format!(
                    "{{key}} stands inside {text}, where it would be part of a text: write it without quotes, as a \
                     parameter, and '…' || {{key}} where it is a part"
                ));
            }
            bound.push_str(text);
        } else if let Some(after) = rest.strip_prefix(KEY) {
            bound.push_str("$1");
            has_key = true;
            rest = after;
            continue;
        } else {
            bound.push_str(text);
        }
        rest = after;
    }
    Ok((bound, has_key))
}

/// The length of the literal or comment that `sql` begins with, or of its first character.
fn piece(sql: &str) -> (usize, bool) {
    let until = |from: usize, end: &str| {
        let found = sql[from..].find(end);
        (found.map_or(sql.len(), |at| from + at + end.len()), true)
    };
    match sql.as_bytes() {
        // A doubled quote ends one literal and begins the next: together they are the same text.
        [b'\'', ..] => until(1, "'"),
        [b'"', ..] => until(1, "\""),
        [b'-', b'-', ..] => until(2, "\n"),
        [b'/', b'*', ..] => until(2, "*/"),
        [b'$', ..] => match dollar_tag(sql) {
            Some(tag) => until(tag.len(), tag),
            None => (1, false),
        },
        _ => (sql.chars().next().map_or(0, char::len_utf8), false),
    }
}

/// `$tag$` at the beginning of a text in dollar quotes; `$1` is a parameter.
fn dollar_tag(sql: &str) -> Option<&str> {
    let end = sql[1..].find('$')? + 2;
    let name = &sql[1..end - 1];
    let is_name = !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| &sql[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_becomes_a_parameter_wherever_one_may_stand() {
        for (sql, bound) in [
            ("SELECT 1", "SELECT 1"),
            ("SELECT {key}", "SELECT $1"),
            (
                "SELECT '{\"a\":1}', {key}, {key}+1",
                "SELECT '{\"a\":1}', $1, $1+1",
            ),
            (
                "SELECT '{1,2}'::int[] -- {key}\n",
                "SELECT '{1,2}'::int[] -- {key}\n",
            ),
            ("SELECT 'it''s' || {key}", "SELECT 'it''s' || $1"),
            ("SELECT $q$ {x} $q$, {key}", "SELECT $q$ {x} $q$, $1"),
            (
                "SELECT \"größe\" /* '{key}' */ FROM t WHERE id={key}",
                "SELECT \"größe\" /* '{key}' */ FROM t WHERE id=$1",
            ),
        ] {
            let has_key = bound.contains("$1");
            assert_eq!(bind(sql), Ok((bound.to_owned(), has_key)));
        }
    }

    #[test]
    fn a_key_inside_a_text_is_refused() {
        for sql in [
            "SELECT '{key}'",
            "SELECT $$a {key}$$",
            "SELECT \"c{key}\"",
            "SELECT 'x''{key}'",
        ] {
            assert!(bind(sql).unwrap_err().contains("without quotes"), "{sql}");
        }
    }
}
