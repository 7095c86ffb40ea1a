//! Reading a request: a small codec over httparse.

use std::mem::MaybeUninit;
use std::ops::Range;

use bytes::Bytes;

/// The request header by which a generator names a request: a decimal number.
///
/// The server writes it into its log, so that a client's samples and the server's truth can be
/// matched one to one, and draws the service time by it.
pub const SEQUENCE_HEADER: &str = "openloop-seq";

/// Header fields a request may have; one with more is answered 431.
const MAX_HEADERS: usize = 64;
/// A head longer than this is answered 431.
pub(crate) const MAX_HEAD: usize = 64 * 1024;

/// A request as it came, kept when the server was built to
/// [record requests](crate::HttpServerBuilder::record_requests).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The connection it came on, counted from 0.
    pub connection: u64,
    /// The method, as written.
    pub method: String,
    /// Path and query, as written.
    pub path: String,
    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2.0`.
    pub version: String,
    /// Names as written (lower-case under HTTP/2) and values, in order.
    pub headers: Vec<(String, Bytes)>,
    /// The body without its transfer coding.
    pub body: Bytes,
}

impl RecordedRequest {
    /// The first value of a header, whatever the case of its name, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()
    }
}

/// The part of a head that the server acts upon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) len: usize,
    pub(crate) seq: Option<u64>,
    pub(crate) path: Range<usize>,
    pub(crate) body: BodyLength,
    pub(crate) keep_alive: bool,
    pub(crate) is_head: bool,
    pub(crate) expects_continue: bool,
    pub(crate) content_type: Option<Range<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Known(usize),
    Chunked,
}

/// Why a head cannot be served: the status that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) u16);

/// Parses the head at the beginning of `buffer`; `None` while it is incomplete.
pub(crate) fn parse_head(buffer: &[u8]) -> Result<Option<Head>, Refused> {
    let mut fields = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut []);
    let len = match request.parse_with_uninit_headers(buffer, &mut fields) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) if buffer.len() > MAX_HEAD => return Err(Refused(431)),
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Refused(431)),
        Err(_) => return Err(Refused(400)),
    };
    let mut head = Head {
        len,
        seq: None,
        path: range_in(buffer, request.path.unwrap_or("/").as_bytes()),
        body: BodyLength::Known(0),
        keep_alive: request.version == Some(1),
        is_head: request.method == Some("HEAD"),
        expects_continue: false,
        content_type: None,
    };
    for field in request.headers.iter() {
        let name = field.name;
        let text = || std::str::from_utf8(field.value).unwrap_or("").trim();
        // Most fields are of no interest; their length says so without a comparison.
        match name.len() {
            12 if name.eq_ignore_ascii_case(SEQUENCE_HEADER) => head.seq = text().parse().ok(),
            12 if name.eq_ignore_ascii_case("content-type") => {
                head.content_type = Some(range_in(buffer, field.value));
            }
            14 if name.eq_ignore_ascii_case("content-length") => {
                head.body = BodyLength::Known(text().parse().map_err(|_| Refused(400))?);
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                if !text().eq_ignore_ascii_case("chunked") {
                    return Err(Refused(501));
                }
                head.body = BodyLength::Chunked;
            }
            10 if name.eq_ignore_ascii_case("connection") => {
                if text().eq_ignore_ascii_case("close") {
                    head.keep_alive = false;
                } else if text().eq_ignore_ascii_case("keep-alive") {
                    head.keep_alive = true;
                }
            }
            6 if name.eq_ignore_ascii_case("expect") => {
                head.expects_continue = text().eq_ignore_ascii_case("100-continue");
            }
            _ => {}
        }
    }
    Ok(Some(head))
}

/// Where `part`, a slice of `whole`, lies in it.
fn range_in(whole: &[u8], part: &[u8]) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    let end = start + part.len();
    if end <= whole.len() { start..end } else { 0..0 }
}

/// A body at the beginning of `buffer`: how many bytes it takes there and, if wanted, what it says.
/// `None` while it is incomplete.
pub(crate) fn parse_body(
    buffer: &[u8],
    length: BodyLength,
    keep: bool,
) -> Result<Option<(usize, Bytes)>, Refused> {
    match length {
        BodyLength::Known(0) => Ok(Some((0, Bytes::new()))),
        BodyLength::Known(len) => Ok(buffer.get(..len).map(|body| {
            (
                len,
                if keep {
                    Bytes::copy_from_slice(body)
                } else {
                    Bytes::new()
                },
            )
        })),
        BodyLength::Chunked => parse_chunks(buffer, keep),
    }
}

fn parse_chunks(buffer: &[u8], keep: bool) -> Result<Option<(usize, Bytes)>, Refused> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let (size_len, size) = match httparse::parse_chunk_size(&buffer[at..]) {
            Ok(httparse::Status::Complete(parsed)) => parsed,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Refused(400)),
        };
        at += size_len;
        let size = usize::try_from(size).map_err(|_| Refused(413))?;
        let end = at.checked_add(size).ok_or(Refused(413))?;
        let Some(chunk) = buffer.get(at..end) else {
            return Ok(None);
        };
        if keep {
            body.extend_from_slice(chunk);
        }
        // The last chunk is followed by trailers, which nobody sends, and an empty line.
        match buffer.get(end..end + 2) {
            Some(b"\r\n") => at = end + 2,
            Some(_) => return Err(Refused(400)),
            None => return Ok(None),
        }
        if size == 0 {
            return Ok(Some((at, body.into())));
        }
    }
}

/// The request as a test wants to see it.
pub(crate) fn record(head: &[u8], connection: u64, body: Bytes) -> Option<RecordedRequest> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut fields);
    request.parse(head).ok()?;
    let header =
        |field: &httparse::Header<'_>| (field.name.to_owned(), Bytes::copy_from_slice(field.value));
    Some(RecordedRequest {
        connection,
        method: request.method?.to_owned(),
        path: request.path?.to_owned(),
        version: format!("HTTP/1.{}", request.version?),
        headers: request.headers.iter().map(header).collect(),
        body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        parse_head(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_head_says_what_the_server_needs() {
        let text = "POST /a?b=1 HTTP/1.1\r\nHost: x\r\nOpenloop-Seq: 41\r\nContent-Length: 3\r\n\
                    Content-Type: text/plain\r\n\r\nabc";
        let head = head(text);
        assert_eq!(&text[head.path.clone()], "/a?b=1");
        assert_eq!(&text[head.content_type.clone().unwrap()], "text/plain");
        assert_eq!(
            (head.seq, head.body, head.keep_alive),
            (Some(41), BodyLength::Known(3), true)
        );
        assert_eq!(&text[head.len..], "abc");
    }

    #[test]
    fn persistence_follows_version_and_connection_header() {
        assert!(head("GET / HTTP/1.1\r\n\r\n").keep_alive);
        assert!(!head("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n").keep_alive);
        assert!(!head("GET / HTTP/1.0\r\n\r\n").keep_alive);
        assert!(head("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
    }

    #[test]
    fn what_is_incomplete_is_waited_for_and_what_is_wrong_refused() {
        assert_eq!(parse_head(b"GET / HTTP/1.1\r\nHost"), Ok(None));
        assert_eq!(parse_head(b"GE\0T / HTTP/1.1\r\n\r\n"), Err(Refused(400)));
        assert_eq!(
            parse_head(b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"),
            Err(Refused(400))
        );
        let many = format!(
            "GET / HTTP/1.1\r\n{}\r\n",
            "A: b\r\n".repeat(MAX_HEADERS + 1)
        );
        assert_eq!(parse_head(many.as_bytes()), Err(Refused(431)));
    }

    #[test]
    fn chunks_are_put_together_and_may_come_in_pieces() {
        let body = b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\nGET";
        for cut in 0..body.len() - 3 {
            assert_eq!(
                parse_body(&body[..cut], BodyLength::Chunked, true),
                Ok(None),
                "{cut}"
            );
        }
        let expected = Some((body.len() - 3, Bytes::from_static(b"abcde")));
        assert_eq!(parse_body(body, BodyLength::Chunked, true), Ok(expected));
        assert_eq!(
            parse_body(b"3\r\nabcd\r\n", BodyLength::Chunked, true),
            Err(Refused(400))
        );
    }

    #[test]
    fn a_record_finds_headers_whatever_their_case() {
        let record = record(b"GET /x HTTP/1.0\r\nX-A: 1\r\n\r\n", 3, Bytes::new()).unwrap();
        assert_eq!(
            (record.method.as_str(), record.path.as_str()),
            ("GET", "/x")
        );
        assert_eq!(
            (record.version.as_str(), record.header("x-a")),
            ("HTTP/1.0", Some("1"))
        );
        assert_eq!(record.header("x-b"), None);
    }
}
