//! Connections spoken by hyper: HTTP/2, and both versions under TLS.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{Request, Response, StatusCode, Version, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::log::Entry;
use crate::shared::{Held, Shared};
use crate::{Act, RecordedRequest, SEQUENCE_HEADER};

/// What to expect on a connection.
#[derive(Clone)]
pub(crate) struct Flavour {
    /// With TLS, ALPN chooses the version; without it, HTTP/2 is known beforehand.
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) max_concurrent_streams: Option<u32>,
}

impl fmt::Debug for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flavour")
            .field("tls", &self.tls.is_some())
            .field("max_concurrent_streams", &self.max_concurrent_streams)
            .finish()
    }
}

/// Whether hyper lets a server do this.
pub(crate) fn supports(act: &Act) -> bool {
    matches!(
        act,
        Act::Status(_) | Act::Bytes(_) | Act::Echo | Act::Delay(_) | Act::Never
    )
}

/// Serves a connection until it ends. Errors of the socket are the client's business.
pub(crate) async fn serve(shared: Arc<Shared>, stream: TcpStream, number: u64, flavour: Flavour) {
    let _open = Held::new(&shared.counters.open);
    let Some(acceptor) = &flavour.tls else {
        return speak(
            &shared,
            stream,
            number,
            true,
            flavour.max_concurrent_streams,
        )
        .await;
    };
    match acceptor.accept(stream).await {
        Ok(stream) => {
            let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            speak(
                &shared,
                stream,
                number,
                http2,
                flavour.max_concurrent_streams,
            )
            .await;
        }
        Err(_) => {
            shared
                .counters
                .failed_handshakes
                .fetch_add(1, Ordering::Relaxed);
        }
    }
}

async fn speak<S>(shared: &Arc<Shared>, stream: S, number: u64, http2: bool, streams: Option<u32>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let io = TokioIo::new(stream);
    let service = service_fn(|request| respond(Arc::clone(shared), request, number));
    let _ = if http2 {
        hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .max_concurrent_streams(streams)
            .serve_connection(io, service)
            .await
    } else {
        hyper::server::conn::http1::Builder::new()
            .serve_connection(io, service)
            .await
    };
}

async fn respond(
    shared: Arc<Shared>,
    request: Request<Incoming>,
    connection: u64,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let (number, _in_flight) = shared.counters.request();
    let path = head
        .uri
        .path_and_query()
        .map_or("/", http::uri::PathAndQuery::as_str);
    let seq = head
        .headers
        .get(SEQUENCE_HEADER)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let act = shared.script.decide(number, path);
    let served = shared
        .driver
        .serve(shared.service_time(path, seq.unwrap_or(number)))
        .await;
    if shared.recorded.is_some() {
        shared.record(Some(record(&head, path, connection, body.clone())));
    }
    let (arrival_ns, start_ns, act) = match served {
        Ok(span) => (span.arrival_ns, span.start_ns, act),
        Err(full) => (full.arrival_ns, full.arrival_ns, Some(Act::Status(503))),
    };
    let mut entry = Entry {
        seq,
        connection,
        arrival_ns,
        start_ns,
        departure_ns: None,
        status: None,
    };
    let response = match act {
        None => plain(200, Bytes::from_static(b"ok")),
        Some(Act::Status(code)) => {
            let body = if matches!(code, 204 | 304) {
                Bytes::new()
            } else {
                code.to_string().into()
            };
            plain(code, body)
        }
        Some(Act::Bytes(size)) => plain(200, vec![b'x'; size].into()),
        Some(Act::Echo) => plain(200, body),
        Some(Act::Delay(time)) => {
            shared.driver.delay(time).await;
            plain(200, Bytes::from_static(b"ok"))
        }
        Some(Act::Never) => {
            shared.log.push(entry);
            return std::future::pending().await;
        }
        Some(_) => plain(
            501,
            Bytes::from_static(b"this server speaks by hyper, which has no such fault"),
        ),
    };
    entry.status = Some(response.status().as_u16());
    entry.departure_ns = Some(shared.clock.now_ns());
    shared.log.push(entry);
    Ok(response)
}

fn plain(code: u16, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::NOT_IMPLEMENTED);
    response
}

fn record(
    head: &http::request::Parts,
    path: &str,
    connection: u64,
    body: Bytes,
) -> RecordedRequest {
    let mut headers: Vec<_> = head
        .headers
        .iter()
        .map(|(name, value)| {
            (
                name.as_str().to_owned(),
                Bytes::copy_from_slice(value.as_bytes()),
            )
        })
        .collect();
    if head.version == Version::HTTP_2 {
        let authority = head
            .uri
            .authority()
            .map(|authority| Bytes::copy_from_slice(authority.as_str().as_bytes()));
        // HTTP/2 carries the host as a pseudo-header.
        headers.extend(authority.map(|host| (header::HOST.as_str().to_owned(), host)));
    }
    RecordedRequest {
        connection,
        method: head.method.to_string(),
        path: path.to_owned(),
        version: format!("{:?}", head.version),
        headers,
        body,
    }
}
