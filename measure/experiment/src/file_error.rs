//! What is wrong in a file, in the words of those who write it.

/// The longest line that is shown.
const SHOWN: usize = 200;

/// What is wrong in a TOML file, with the line it stands in, if that is one that people read.
pub(crate) fn of_toml(error: &toml::de::Error, text: &str) -> String {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..at).unwrap_or(text);
    let begins = before.rfind('\n').map_or(0, |end| end + 1);
    let length = text
        .get(begins..)
        .map_or(0, |rest| rest.find('\n').unwrap_or(rest.len()));
    let told = match length > SHOWN {
        true => {
            let line = before.matches('\n').count() + 1;
            let message: String = error.message().chars().take(2 * SHOWN).collect();
            format!("in line {line}, column {}: {message}", at - begins + 1)
        }
        false => error.to_string().trim_end().to_owned(),
    };
    in_words(&told)
}

/// Types as people call them.
pub(crate) fn in_words(text: &str) -> String {
    let mut text = text.to_owned();
    for (name, words) in [
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected a table"),
    ] {
        text = text.replace(name, words);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_not_shown() {
        let long = format!("a = 1\nb = [{}", "1, ".repeat(100_000));
        let error = toml::from_str::<toml::Table>(&long).unwrap_err();
        let told = of_toml(&error, &long);
        assert!(told.len() < 500 && told.contains("line 2"), "{told}");
        let short = "a = 1\nb = [";
        let error = toml::from_str::<toml::Table>(short).unwrap_err();
        assert!(of_toml(&error, short).contains("b = ["));
    }
}
