//! A request in the form in which it is sent.

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING, UPGRADE};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderValue, Method, Uri};
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Why a request cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// It is for another server than the one that the connections lead to.
    #[error(
        "the request is for {asked}, and the connections lead to {target}; build another client for it"
    )]
    OtherServer {
        /// Where the request would go.
        asked: String,
        /// Where the connections lead.
        target: String,
    },
    /// Its URI has no meaning as a target.
    #[error("{uri:?} cannot be requested: {reason}")]
    Uri {
        /// What was given.
        uri: String,
        /// Why not.
        reason: String,
    },
    /// A header that the client must set itself.
    #[error("the header {name} is set by the client; leave it out")]
    Header {
        /// The header.
        name: &'static str,
    },
    /// A tunnel is not a request with an answer.
    #[error("CONNECT opens a tunnel and has no answer to measure")]
    Connect,
}

/// A request that is checked and ready to be sent any number of times; cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Request {
    parts: Arc<Parts>,
    repeatable: bool,
}

#[derive(Debug)]
pub(crate) struct Parts {
    method: Method,
    /// What stands in the request line of HTTP/1.1: path and query.
    origin: Uri,
    /// What HTTP/2 takes its pseudo-headers from.
    absolute: Uri,
    headers: HeaderMap,
    body: Bytes,
}

/// The body of a request on its way, until it has been taken; one pointer, as the client keeps room for 32 requests
/// on every connection.
#[derive(Debug)]
pub(crate) struct Payload(Option<Arc<Parts>>);

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let unsent = self.0.take();
        Poll::Ready(unsent.map(|parts| Ok(Frame::data(parts.body.clone()))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.0.as_ref().map_or(0, |parts| parts.body.len());
        SizeHint::with_exact(length as u64)
    }
}

/// Where the connections lead.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) scheme: Scheme,
    pub(crate) authority: Authority,
    /// Each connection serves one request.
    pub(crate) close: bool,
}

impl Target {
    /// Checks a request and gives it the form in which it is sent.
    ///
    /// `Host` is set where the user did not, with the port where it is not the scheme's own. The length of the body
    /// is set for a body, and for an empty one with the methods that commonly have one, as servers may ask for it.
    pub(crate) fn prepare(&self, request: http::Request<Bytes>) -> Result<Request, RequestError> {
        let (parts, body) = request.into_parts();
        if parts.method == Method::CONNECT {
            return Err(RequestError::Connect);
        }
        self.check_server(&parts.uri)?;
        let path = match parts.uri.path_and_query() {
            Some(path) => path.clone(),
            None => PathAndQuery::from_static("/"),
        };
        let mut headers = parts.headers;
        for name in [CONTENT_LENGTH, TRANSFER_ENCODING] {
            if headers.contains_key(&name) {
                let name = if name == CONTENT_LENGTH {
                    "content-length"
                } else {
                    "transfer-encoding"
                };
                return Err(RequestError::Header { name });
            }
        }
        if headers.contains_key(UPGRADE) {
            return Err(RequestError::Header { name: "upgrade" });
        }
        if !headers.contains_key(HOST) {
            headers.insert(HOST, self.host(&parts.uri)?);
        }
        if self.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let has_body = [Method::POST, Method::PUT, Method::PATCH].contains(&parts.method);
        if has_body || !body.is_empty() {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        }
        let parts = Parts {
            origin: Uri::from(path.clone()),
            absolute: self.absolute(&parts.uri, path, headers.get(HOST))?,
            method: parts.method,
            headers,
            body,
        };
        Ok(Request {
            repeatable: parts.method.is_idempotent(),
            parts: Arc::new(parts),
        })
    }

    fn check_server(&self, uri: &Uri) -> Result<(), RequestError> {
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Ok(());
        };
        let same = *scheme == self.scheme
            && authority.host().eq_ignore_ascii_case(self.authority.host())
            && port(scheme, authority) == port(&self.scheme, &self.authority);
        if same {
            return Ok(());
        }
        Err(RequestError::OtherServer {
            asked: format!("{scheme}://{authority}"),
            target: format!("{}://{}", self.scheme, self.authority),
        })
    }

    fn host(&self, uri: &Uri) -> Result<HeaderValue, RequestError> {
        let host = self.authority.host();
        let text = match self.authority.port_u16() {
            Some(port) if Some(port) != default_port(&self.scheme) => format!("{host}:{port}"),
            _ => host.to_owned(),
        };
        HeaderValue::try_from(text).map_err(|error| RequestError::Uri {
            uri: uri.to_string(),
            reason: error.to_string(),
        })
    }

    fn absolute(
        &self,
        uri: &Uri,
        path: PathAndQuery,
        host: Option<&HeaderValue>,
    ) -> Result<Uri, RequestError> {
        let authority = host.map_or(self.authority.as_str().as_bytes(), HeaderValue::as_bytes);
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(authority)
            .path_and_query(path)
            .build()
            .map_err(|error| RequestError::Uri {
                uri: uri.to_string(),
                reason: error.to_string(),
            })
    }
}

pub(crate) fn default_port(scheme: &Scheme) -> Option<u16> {
    match scheme.as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

fn port(scheme: &Scheme, authority: &Authority) -> Option<u16> {
    authority.port_u16().or_else(|| default_port(scheme))
}

impl Request {
    /// The method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.parts.method
    }

    /// The same request, which may be sent again where its connection closed before a byte came back, whatever its
    /// method: for a POST that changes nothing at the server. See [Retries](crate#retries).
    #[must_use]
    pub fn repeatable(self) -> Self {
        Request {
            repeatable: true,
            ..self
        }
    }

    pub(crate) fn is_repeatable(&self) -> bool {
        self.repeatable
    }

    /// The target as an absolute URI.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.parts.absolute
    }

    /// The headers as they are sent over HTTP/1.1.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.parts.body
    }

    /// The request as HTTP/1.1 sends it. Uris and values share their bytes; the header map is copied.
    pub(crate) fn to_http1(&self) -> http::Request<Payload> {
        let unsent = (!self.parts.body.is_empty()).then(|| self.parts.clone());
        let mut request = http::Request::new(Payload(unsent));
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = self.parts.origin.clone();
        *request.headers_mut() = self.parts.headers.clone();
        request
    }

    /// The head of the request as HTTP/2 sends it: the host stands in the URI, and no header speaks of a connection.
    pub(crate) fn to_http2(&self) -> http::Request<()> {
        let mut request = http::Request::new(());
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = self.parts.absolute.clone();
        *request.version_mut() = http::Version::HTTP_2;
        let headers = request.headers_mut();
        headers.clone_from(&self.parts.headers);
        headers.remove(HOST);
        headers.remove(CONNECTION);
        request
    }
}
