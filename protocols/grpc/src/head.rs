//! The head of every call: where to, and what the protocol and the user put beside the messages.

use crate::deadline;
use http::header::{CONTENT_TYPE, TE, USER_AGENT};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};
use tokio::time::Instant;

pub(crate) const TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// What the heads of a client's calls have in common.
#[derive(Clone, Debug)]
pub(crate) struct Heads {
    scheme: Scheme,
    authority: Authority,
    headers: HeaderMap,
}

impl Heads {
    pub(crate) fn new(scheme: Scheme, authority: Authority, metadata: HeaderMap) -> Self {
        let mut headers = metadata;
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        let agent = concat!("openloop-grpc/", env!("CARGO_PKG_VERSION"));
        headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(agent));
        Heads {
            scheme,
            authority,
            headers,
        }
    }

    /// The head of a call that goes out now.
    pub(crate) fn of(
        &self,
        path: &PathAndQuery,
        metadata: &HeaderMap,
        until: Option<Instant>,
    ) -> http::Request<()> {
        let mut uri = http::uri::Parts::default();
        uri.scheme = Some(self.scheme.clone());
        uri.authority = Some(self.authority.clone());
        uri.path_and_query = Some(path.clone());
        let mut request = http::Request::new(());
        *request.method_mut() = Method::POST;
        // With all its parts there it cannot fail.
        *request.uri_mut() = Uri::from_parts(uri).unwrap_or_default();
        *request.version_mut() = Version::HTTP_2;
        let mut headers = self.headers.clone();
        if metadata.contains_key(USER_AGENT) {
            headers.remove(USER_AGENT);
        }
        for (name, value) in metadata {
            headers.append(name, value.clone());
        }
        if let Some(until) = until {
            let left = until.saturating_duration_since(Instant::now());
            headers.insert(TIMEOUT, deadline::header(left));
        }
        *request.headers_mut() = headers;
        request
    }
}
