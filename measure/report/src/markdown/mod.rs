//! Reports as Markdown, for a comment on a pull request.

mod compare;
mod experiment;
mod report;
mod summaries;

pub use summaries::write_summaries_markdown;

use crate::words::Tone;

/// `text` so that no sign in it means anything: names and messages may come from anywhere.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // It would call somebody.
            '@' => escaped.push_str("&#64;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A sign that is seen in a list of comments.
fn sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "✅",
        Tone::Bad => "❌",
        Tone::Doubtful => "⚠️",
        Tone::Plain | Tone::Strong | Tone::Faint => "▫️",
    }
}

/// A row of a table.
fn row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

/// The line under the head of a table: the first column to the left, the others to the right.
fn rule(columns: usize) -> String {
    format!("| --- |{}", " ---: |".repeat(columns.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_wrote_means_nothing() {
        assert_eq!(
            escaped("a|b <img src=x> *c* @all `d` [e](f)\n#g"),
            r"a\|b &lt;img src=x&gt; \*c\* &#64;all \`d\` \[e\](f) \#g"
        );
    }
}
