//! Parameters in SQL: `{key}` becomes `$1`, so that a key is never part of the text.

/// The SQL with `$1`, `$2`, … for the `{name}`s in it, and of each parameter its place among `names`.
///
/// # Errors
/// When a name is not known, or stands where no parameter can: in a text or a quoted name.
pub(crate) fn bind(sql: &str, names: &[&str]) -> Result<(String, Vec<usize>), String> {
    let mut bound = String::with_capacity(sql.len());
    let mut used: Vec<usize> = Vec::new();
    let mut rest = sql;
    while !rest.is_empty() {
        if let Some((name, after)) = place(rest) {
            let Some(index) = names.iter().position(|known| *known == name) else {
                let known: Vec<_> = names.iter().map(|name| format!("{{{name}}}")).collect();
                let known = match known.as_slice() {
                    [] => "there are none".to_owned(),
                    known => format!("there is {}", known.join(", ")),
                };
                return Err(format!("{{{name}}} is no parameter of {sql:?}: {known}"));
            };
            let number = used.iter().position(|known| *known == index);
            let number = number.unwrap_or_else(|| {
                used.push(index);
                used.len() - 1
            });
            bound.push_str(&format!("${}", number + 1));
            rest = after;
            continue;
        }
        let (length, is_text) = piece(rest);
        let (text, after) = rest.split_at(length);
        let hidden = names
            .iter()
            .find(|name| text.contains(&format!("{{{name}}}")));
        if let Some(name) = hidden.filter(|_| is_text) {
            return Err(format!(
                "{{{name}}} stands inside {text}, where it would be part of a text: write it without quotes, as a \
                 parameter, and '…' || {{{name}}} where it is a part"
            ));
        }
        bound.push_str(text);
        rest = after;
    }
    Ok((bound, used))
}

/// The name in braces that `sql` begins with, and what follows.
fn place(sql: &str) -> Option<(&str, &str)> {
    let (name, after) = sql.strip_prefix('{')?.split_once('}')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some((name, after))
}

/// The length of the text, quoted name or comment that `sql` begins with, or of its first character, and whether it is
/// a text or a name.
fn piece(sql: &str) -> (usize, bool) {
    let until = |from: usize, end: &str| {
        let found = sql[from..].find(end);
        found.map_or(sql.len(), |at| from + at + end.len())
    };
    match sql.as_bytes() {
        // A doubled quote ends one text and begins the next: together they are the same.
        [b'\'', ..] => (until(1, "'"), true),
        [b'"', ..] => (until(1, "\""), true),
        [b'-', b'-', ..] => (until(2, "\n"), false),
        [b'/', b'*', ..] => (until(2, "*/"), false),
        [b'$', ..] => match dollar_tag(sql) {
            Some(tag) => (until(tag.len(), tag), true),
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
            let used = if bound.contains("$1") {
                vec![0]
            } else {
                vec![]
            };
            assert_eq!(bind(sql, &["key"]), Ok((bound.to_owned(), used)));
        }
        let two = bind(
            "UPDATE t SET b = {b} WHERE a = {a} AND b < {b}",
            &["a", "b"],
        );
        let bound = "UPDATE t SET b = $1 WHERE a = $2 AND b < $1".to_owned();
        assert_eq!(two, Ok((bound, vec![1, 0])));
    }

    #[test]
    fn a_key_inside_a_text_and_a_name_that_is_not_known_are_refused() {
        for sql in [
            "SELECT '{key}'",
            "SELECT $$a {key}$$",
            "SELECT \"c{key}\"",
            "SELECT 'x''{key}'",
        ] {
            assert!(
                bind(sql, &["key"]).unwrap_err().contains("without quotes"),
                "{sql}"
            );
        }
        let message = bind("SELECT {id}", &["key"]).unwrap_err();
        assert!(message.contains("{id} is no parameter") && message.contains("there is {key}"));
    }
}
