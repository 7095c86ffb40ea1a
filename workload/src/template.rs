//! A text with places for what each request asks for.

use serde::{Deserialize, Serialize};

/// The place that [`Template::render`] fills.
const KEY: &str = "key";

/// A text with named places, `{key}`, `{user}`, `{size}`: a URL, a header, a body.
///
/// Only a place with the name of something to put there means anything: `{key}` where a key is put
/// ([`Template::render`]), the names of the fields where fields are ([`Fields::render`](crate::Fields::render)). All
/// other braces, JSON's among them, stay as they are and need no escape.
///
/// It is taken apart once, so that a request costs no search.
///
/// ```
/// use openloop_workload::Template;
///
/// let body = Template::new(r#"{"id": {key}, "parent": {key}}"#);
/// assert_eq!(body.render(41), r#"{"id": 41, "parent": 41}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Template {
    text: String,
    /// In the order of the text.
    places: Vec<Place>,
}

/// Where a name in braces stands in the text: of the braces, the first byte and the one after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    start: usize,
    end: usize,
}

impl Template {
    /// Any text; it may be without a place.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut places = Vec::new();
        for (start, _) in text.match_indices('{') {
            let inner = &text[start + 1..];
            if let Some(length) = inner.find(|c: char| !is_name_character(c))
                && inner[length..].starts_with('}')
                && is_name(&inner[..length])
            {
                let end = start + length + 2;
                places.push(Place { start, end });
            }
        }
        Template { text, places }
    }

    /// Whether the text has a place for the key at all.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.has(KEY)
    }

    /// Whether the text has a place of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.places().any(|place| place == name)
    }

    /// The names of all places in the order of the text, as often as they stand there; whether anything fills them is
    /// another question.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|place| self.name(*place))
    }

    /// The text as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with `key`, in decimal, in every `{key}`.
    #[must_use]
    pub fn render(&self, key: u64) -> String {
        // A key has up to 20 digits.
        let mut rendered = String::with_capacity(self.text.len() + 20 * self.places.len());
        self.fill(&mut rendered, |name, out| {
            let is_key = name == KEY;
            if is_key {
                push_decimal(key, out);
            }
            is_key
        });
        rendered
    }

    /// Appends the text with its places filled by `put`, which says whether it knows the name; else the place stays.
    pub(crate) fn fill(&self, out: &mut String, mut put: impl FnMut(&str, &mut String) -> bool) {
        let mut done = 0;
        for place in &self.places {
            out.push_str(&self.text[done..place.start]);
            done = if put(self.name(*place), out) {
                place.end
            } else {
                place.start
            };
        }
        out.push_str(&self.text[done..]);
    }

    fn name(&self, place: Place) -> &str {
        &self.text[place.start + 1..place.end - 1]
    }
}

impl From<String> for Template {
    fn from(text: String) -> Self {
        Template::new(text)
    }
}

impl From<Template> for String {
    fn from(template: Template) -> Self {
        template.text
    }
}

/// Whether a place can have this name.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(is_name_character)
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || ['_', '-', '.'].contains(&c)
}

/// Appends a number in decimal.
pub(crate) fn push_decimal(mut number: u64, out: &mut String) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    push_ascii(&digits[at..], out);
}

/// Appends characters of ASCII, several at a time.
pub(crate) fn push_ascii(characters: &[u8], out: &mut String) {
    if let Ok(text) = std::str::from_utf8(characters) {
        out.push_str(text);
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
            ("{user}{key}{}{é}{keys}", "{user}7{}{é}{keys}"),
        ] {
            let template = Template::new(text);
            assert_eq!(template.render(7), rendered);
            assert_eq!(template.has_key(), text != rendered);
        }
    }

    #[test]
    fn places_are_names_in_braces_and_nothing_else() {
        let json = Template::new(
            r#"{"a": {user}, "b": {"c": "{page-size.1}{user}"}, "d": {}, "e": {x y}, {"f"}}"#,
        );
        assert_eq!(
            json.places().collect::<Vec<_>>(),
            ["user", "page-size.1", "user"]
        );
        let long = format!("{{{}}}", "x".repeat(65));
        assert_eq!(Template::new(long).places().count(), 0);
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        for number in [0, 9, 10, 12_345, u64::MAX] {
            let mut out = String::from("n");
            push_decimal(number, &mut out);
            assert_eq!(out, format!("n{number}"));
        }
    }
}
