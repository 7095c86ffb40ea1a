//! Server-sent events, out of bytes that may be cut anywhere.

use memchr::memchr2;
use std::borrow::Cow;

/// The longest line, and the most data of an event, that are taken.
const MOST: usize = 16 * 1024 * 1024;

/// Parses server-sent events as the WHATWG text says (HTML, section 9.2.6), from pieces that may be cut anywhere.
///
/// Lines end with LF, CR or CRLF; a byte order mark at the start is left out; comments, `id` and `retry` have no effect
/// here; the lines of `data` of one event are joined by LF; an event without data is none, and so is one that the stream
/// ends in. An event is told with the byte that ends it. Its text is decoded when it is whole, so that a character may be
/// cut between two pieces.
///
/// A line that lies within one piece is not copied before it is data.
///
/// ```
/// use openloop_inference::EventParser;
///
/// let mut parser = EventParser::new();
/// let mut events = Vec::new();
/// for piece in ["data:{\"a\"", ":1}\r", "\n\r\n: a comment\n\nevent: end\ndata: b", "ye\n\n"] {
///     parser.feed(piece.as_bytes(), |event| events.push((event.name().into_owned(), event.text().into_owned())))?;
/// }
/// let text = |name: &str, data: &str| (name.to_owned(), data.to_owned());
/// assert_eq!(events, [text("message", "{\"a\":1}"), text("end", "bye")]);
/// # Ok::<(), openloop_inference::TooLong>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct EventParser {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// Each line of data with LF behind it.
    data: Vec<u8>,
    name: Vec<u8>,
    /// An LF that comes next belongs to the CR before it.
    after_cr: bool,
    begun: bool,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    name: &'a [u8],
    data: &'a [u8],
}

/// A line or an event of more than 16 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than 16 MiB: that is no stream of events")]
pub struct TooLong;

impl<'a> Event<'a> {
    /// Its type: `message` where the stream gives none.
    #[must_use]
    pub fn name(&self) -> Cow<'a, str> {
        match self.name {
            [] => Cow::Borrowed("message"),
            name => String::from_utf8_lossy(name),
        }
    }

    /// Its data as they came.
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Its data as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.data)
    }
}

impl EventParser {
    /// At the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        EventParser::default()
    }

    /// Takes the next piece of the stream, and shows each event that ends in it.
    ///
    /// # Errors
    /// [`TooLong`]; the parser is of no use then.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        mut on_event: impl FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                return extend(&mut self.line, bytes);
            };
            let (line, rest) = bytes.split_at(end);
            self.after_cr = rest[0] == b'\r';
            bytes = &rest[1..];
            if self.line.is_empty() {
                self.take(line, &mut on_event)?;
            } else {
                extend(&mut self.line, line)?;
                let mut whole = std::mem::take(&mut self.line);
                self.take(&whole, &mut on_event)?;
                whole.clear();
                self.line = whole;
            }
        }
        Ok(())
    }

    /// Whether the stream could end here without cutting an event off.
    #[must_use]
    pub fn is_between_events(&self) -> bool {
        self.line.is_empty() && self.data.is_empty()
    }

    fn take(
        &mut self,
        mut line: &[u8],
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(on_event);
            return Ok(());
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                extend(&mut self.data, value)?;
                self.data.push(b'\n');
            }
            b"event" => value.clone_into(&mut self.name),
            // A comment has an empty name; `id` and `retry` are for who connects again.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, on_event: &mut impl FnMut(Event<'_>)) {
        if let Some((_, data)) = self.data.split_last() {
            let name = &self.name;
            on_event(Event { name, data });
        }
        self.data.clear();
        self.name.clear();
    }
}

fn extend(into: &mut Vec<u8>, bytes: &[u8]) -> Result<(), TooLong> {
    if into.len() + bytes.len() > MOST {
        return Err(TooLong);
    }
    into.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests;
