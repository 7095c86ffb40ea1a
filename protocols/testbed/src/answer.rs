//! The bytes of an answer.

use std::io::Write;

use crate::Act;

/// What goes over the wire, and what becomes of the connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) bytes: Vec<u8>,
    pub(crate) status: Option<u16>,
    pub(crate) then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    KeepAlive,
    Close,
    Reset,
}

/// The ordinary answer, written without any allocation.
pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// The answer to an act other than those that have none.
pub(crate) fn compose(act: &Act, echo: &[u8], content_type: &[u8]) -> Answer {
    let plain = |then| answer(200, OK.to_vec(), then);
    match act {
        Act::Status(code) => answer(*code, status(*code), Then::KeepAlive),
        Act::Bytes(size) => {
            let mut bytes =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n").into_bytes();
            bytes.resize(bytes.len() + size, b'x');
            answer(200, bytes, Then::KeepAlive)
        }
        Act::Chunked(size) => answer(200, chunked(*size), Then::KeepAlive),
        Act::Echo => {
            let mut bytes = b"HTTP/1.1 200 OK\r\ncontent-type: ".to_vec();
            bytes.extend_from_slice(content_type);
            bytes.extend_from_slice(
                format!("\r\ncontent-length: {}\r\n\r\n", echo.len()).as_bytes(),
            );
            bytes.extend_from_slice(echo);
            answer(200, bytes, Then::KeepAlive)
        }
        Act::Delay(_) | Act::Slow(_) => plain(Then::KeepAlive),
        Act::CloseAfter => plain(Then::Close),
        Act::ConnectionClose => {
            let bytes =
                b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok".to_vec();
            answer(200, bytes, Then::Close)
        }
        Act::Http10 => answer(200, b"HTTP/1.0 200 OK\r\n\r\nok".to_vec(), Then::Close),
        Act::BadStatusLine => Answer {
            bytes: b"HTP/1.1 fine\r\ncontent-length: 2\r\n\r\nok".to_vec(),
            status: None,
            then: Then::Close,
        },
        Act::BadChunk => {
            let bytes = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\nnone\r\n"
                .to_vec();
            answer(200, bytes, Then::Close)
        }
        Act::ResetMidBody => {
            let mut bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".to_vec();
            bytes.resize(bytes.len() + 500, b'x');
            answer(200, bytes, Then::Reset)
        }
        Act::Reset => Answer {
            bytes: Vec::new(),
            status: None,
            then: Then::Reset,
        },
        Act::Close | Act::Never => Answer {
            bytes: Vec::new(),
            status: None,
            then: Then::Close,
        },
    }
}

/// The answer to a request that could not be understood.
pub(crate) fn refusal(code: u16) -> Answer {
    Answer {
        then: Then::Close,
        ..answer(code, status(code), Then::Close)
    }
}

fn answer(status: u16, bytes: Vec<u8>, then: Then) -> Answer {
    Answer {
        bytes,
        status: Some(status),
        then,
    }
}

fn status(code: u16) -> Vec<u8> {
    // 204 and 304 have no body and 1xx is not the end of an exchange.
    match code {
        204 | 304 => format!("HTTP/1.1 {code} {}\r\n\r\n", reason(code)).into_bytes(),
        _ => {
            let body = format!("{code}");
            format!(
                "HTTP/1.1 {code} {}\r\ncontent-length: {}\r\n\r\n{body}",
                reason(code),
                body.len()
            )
            .into_bytes()
        }
    }
}

fn reason(code: u16) -> &'static str {
    http::StatusCode::from_u16(code)
        .ok()
        .and_then(|code| code.canonical_reason())
        .unwrap_or("Scripted")
}

/// A body in chunks of up to 1000 bytes.
fn chunked(size: usize) -> Vec<u8> {
    let mut bytes = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let mut left = size;
    while left > 0 {
        let chunk = left.min(1000);
        // Writing into a vector cannot fail.
        let _ = write!(bytes, "{chunk:x}\r\n");
        bytes.resize(bytes.len() + chunk, b'x');
        bytes.extend_from_slice(b"\r\n");
        left -= chunk;
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_without_a_body_have_no_length() {
        assert_eq!(status(204), b"HTTP/1.1 204 No Content\r\n\r\n");
        assert_eq!(
            status(503),
            b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 3\r\n\r\n503"
        );
        assert!(status(799).starts_with(b"HTTP/1.1 799 Scripted\r\n"));
    }

    #[test]
    fn a_chunked_body_has_its_size_and_an_end() {
        let text = String::from_utf8(chunked(1500)).unwrap();
        let body = text.split_once("\r\n\r\n").unwrap().1;
        assert!(body.starts_with("3e8\r\nx") && body.ends_with("x\r\n0\r\n\r\n"));
        assert_eq!(body.matches('x').count(), 1500);
    }
}
