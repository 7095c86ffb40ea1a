//! A text with a place for the key.

use std::fmt::Write;

const PLACE: &str = "{key}";

/// A text in which every `{key}` stands for the key of the request; other braces mean nothing.
///
/// ```
/// use openloop_workload::Template;
///
/// let body = Template::new(r#"{"id": {key}, "parent": {key}}"#);
/// assert_eq!(body.render(41), r#"{"id": 41, "parent": 41}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
}

impl Template {
    /// Any text; it may be without a place.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Template { text: text.into() }
    }

    /// Whether the text has a place for the key at all.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.text.contains(PLACE)
    }

    /// The text as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with `key`, in decimal, in every place.
    #[must_use]
    pub fn render(&self, key: u64) -> String {
        // A key has up to 20 digits; more than one place is rare.
        let mut rendered = String::with_capacity(self.text.len() + 20);
        let mut rest = self.text.as_str();
        while let Some((before, after)) = rest.split_once(PLACE) {
            rendered.push_str(before);
            // Writing to a string does not fail.
            let _ = write!(rendered, "{key}");
            rest = after;
        }
        rendered.push_str(rest);
        rendered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_place_itself_is_replaced() {
        for (text, rendered) in [
            ("", ""),
            ("no place", "no place"),
            ("{key}", "7"),
            ("{key}{key}", "77"),
            ("/a/{key}?b={key}#", "/a/7?b=7#"),
            ("{ key } {Key} {{key}} {key", "{ key } {Key} {7} {key"),
        ] {
            let template = Template::new(text);
            assert_eq!(template.render(7), rendered);
            assert_eq!(template.has_key(), text != rendered);
        }
    }
}
