//! A command with places in it.

use openloop_redis::{Request, RequestError, Script};
use openloop_workload::mix::{Alphabet, Field, RandomText};
use openloop_workload::values::Fixed;
use openloop_workload::{Fields, Template, Values};
use std::path::Path;

/// The words of a command, or the keys and arguments of a script.
#[derive(Debug)]
pub(crate) struct Command {
    words: Vec<Template>,
    script: Option<Script>,
}

impl Command {
    /// Words as in redis-cli, in quotes where they hold spaces; for a script its keys and, behind a comma that stands
    /// alone, its arguments.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str, script: Option<Script>) -> Result<Self, String> {
        let words = shlex::split(text)
            .ok_or_else(|| format!("{text:?} opens a quote and does not close it"))?;
        if words.is_empty() && script.is_none() {
            return Err("the command is empty: write one such as GET key:1".to_owned());
        }
        Ok(Command {
            words: words.into_iter().map(Template::new).collect(),
            script,
        })
    }

    pub(crate) fn templates(&self) -> &[Template] {
        &self.words
    }

    /// The request, with `render` for what stands in the places.
    ///
    /// # Errors
    /// Where it is no request.
    pub(crate) fn request(
        &self,
        render: impl Fn(&Template) -> String,
    ) -> Result<Request, RequestError> {
        let Some(script) = &self.script else {
            return Request::command(self.rendered(render));
        };
        let is_comma = |word: &Template| word.text() == ",";
        let comma = self.words.iter().position(is_comma);
        let (keys, arguments) = match comma {
            Some(comma) => (&self.words[..comma], &self.words[comma + 1..]),
            None => (&self.words[..], &[][..]),
        };
        let (keys, arguments) = (keys.iter().map(&render), arguments.iter().map(&render));
        Ok(Request::script(script, keys, arguments))
    }

    /// Several of it at once, number `n` with `render(n, …)`.
    ///
    /// # Errors
    /// Where it is no request; scripts are called one at a time.
    pub(crate) fn pipeline(
        &self,
        count: usize,
        render: impl Fn(usize, &Template) -> String,
    ) -> Result<Request, RequestError> {
        if count == 1 {
            return self.request(|word| render(0, word));
        }
        Request::pipeline((0..count).map(|number| self.rendered(|word| render(number, word))))
    }

    fn rendered(&self, render: impl Fn(&Template) -> String) -> Vec<String> {
        self.words.iter().map(render).collect()
    }
}

/// A script from a file.
///
/// # Errors
/// Where it cannot be read.
pub(crate) fn script(file: &Path) -> Result<Script, String> {
    std::fs::read_to_string(file)
        .map(Script::new)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

/// The text with each `{value:SIZE}` as a place with a name, and what fills these.
///
/// # Errors
/// Where a size is none.
pub(crate) fn with_values(text: &str) -> Result<(String, Fields), String> {
    const BEGIN: &str = "{value:";
    let (mut named, mut rest, mut fields) = (String::new(), text, Vec::new());
    while let Some(begin) = rest.find(BEGIN) {
        let behind = &rest[begin + BEGIN.len()..];
        let end = behind
            .find('}')
            .ok_or_else(|| format!("{:?} has no closing brace", &rest[begin..]))?;
        let name = format!("value.{}", fields.len());
        named.push_str(&rest[..begin]);
        named.push_str(&format!("{{{name}}}"));
        let field =
            value(&behind[..end]).map_err(|why| format!("{BEGIN}{}}}: {why}", &behind[..end]))?;
        fields.push((name, field));
        rest = &behind[end + 1..];
    }
    named.push_str(rest);
    let fields = Fields::new(fields).map_err(|error| error.to_string())?;
    Ok((named, fields))
}

fn value(size: &str) -> Result<Field, String> {
    let length = match size.parse() {
        Ok(bytes) => Values::Fixed(Fixed::new(bytes).map_err(|error| error.to_string())?),
        Err(_) => Values::load(size, Path::new("")).map_err(|error| error.to_string())?,
    };
    let text = RandomText::new(Alphabet::UrlSafe, length).map_err(|error| error.to_string())?;
    Ok(Field::Text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_places_of_their_own() {
        let (text, fields) = with_values("MSET {key} {value:3} b {value:fixed:5} {value}").unwrap();
        assert_eq!(text, "MSET {key} {value.0} b {value.1} {value}");
        let lengths = ["value.0", "value.1"].map(|name| fields.text(name, 1, 1).unwrap());
        assert_eq!(lengths.each_ref().map(String::len), [3, 5]);
        assert_ne!(lengths[0], lengths[1][..3]);
        for bad in [
            "{value:",
            "{value:-1}",
            "{value:many}",
            "{value:exponential:100}",
        ] {
            assert!(with_values(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn words_are_parted_as_a_shell_does() {
        let command = Command::parse(r#"SET "a key" 'x "y"' {key}"#, None).unwrap();
        let words = command.rendered(|word| word.render(7));
        assert_eq!(words, ["SET", "a key", "x \"y\"", "7"]);
        assert!(Command::parse("GET 'a", None).is_err());
        assert!(Command::parse(" ", None).is_err());
    }
}
