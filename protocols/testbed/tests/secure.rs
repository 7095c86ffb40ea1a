//! HTTP/2 and TLS, as a client of hyper and rustls sees them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic"
)]

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use openloop_testbed::{Act, Certificate, HttpServer, On, SEQUENCE_HEADER, Service};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

async fn http2<S>(stream: S) -> SendRequest<Full<Bytes>>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let io = TokioIo::new(stream);
    let (sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io)
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

fn request(server: &HttpServer, path: &str) -> Request<Full<Bytes>> {
    let uri = server.url(path);
    Request::post(uri)
        .header(SEQUENCE_HEADER, "17")
        .body(Full::from("hello"))
        .unwrap()
}

async fn body(response: Response<Incoming>) -> Bytes {
    response.into_body().collect().await.unwrap().to_bytes()
}

async fn handshake(server: &HttpServer, alpn: &[&str]) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(server.ca_pem().unwrap().as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(server.addr()).await?;
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

#[tokio::test]
async fn http2_is_spoken_by_prior_knowledge_and_logged_like_http1() {
    let server = HttpServer::builder()
        .http2()
        .record_requests()
        .service(Service::fixed(Duration::from_millis(2)))
        .start()
        .unwrap();
    let mut client = http2(TcpStream::connect(server.addr()).await.unwrap()).await;
    let response = client
        .send_request(request(&server, "/x?y=1"))
        .await
        .unwrap();
    assert_eq!(
        (response.status().as_u16(), response.version()),
        (200, Version::HTTP_2)
    );
    assert_eq!(body(response).await, "ok");
    let response = client
        .send_request(request(&server, "/status/503"))
        .await
        .unwrap();
    assert_eq!(response.status().as_u16(), 503);
    let response = client
        .send_request(request(&server, "/echo"))
        .await
        .unwrap();
    assert_eq!(body(response).await, "hello");

    let log = server.log();
    assert_eq!(
        log.iter().map(|served| served.status).collect::<Vec<_>>(),
        [Some(200), Some(503), Some(200)]
    );
    assert!(
        log.iter()
            .all(|served| served.seq == Some(17) && served.connection == 0)
    );
    assert!(
        log.iter()
            .all(|served| served.departure.unwrap() >= served.arrival + Duration::from_millis(2))
    );
    let sent = &server.requests()[0];
    assert_eq!(
        (
            sent.method.as_str(),
            sent.path.as_str(),
            sent.version.as_str()
        ),
        ("POST", "/x?y=1", "HTTP/2.0")
    );
    assert_eq!(
        (sent.header("host"), &sent.body[..]),
        (Some(server.addr().to_string().as_str()), &b"hello"[..])
    );
}

#[tokio::test]
async fn more_streams_than_allowed_are_never_open_at_once() {
    let server = HttpServer::builder()
        .http2()
        .max_concurrent_streams(3)
        .service(Service::fixed(Duration::from_millis(20)))
        .start()
        .unwrap();
    let mut client = http2(TcpStream::connect(server.addr()).await.unwrap()).await;
    // The limit is known to the client once the first answer is.
    client.send_request(request(&server, "/")).await.unwrap();
    let calls: Vec<_> = (0..12)
        .map(|_| {
            let mut client = client.clone();
            let request = request(&server, "/");
            tokio::spawn(async move { client.send_request(request).await.unwrap().status() })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
    assert_eq!(
        (server.in_flight_peak(), server.served(), server.accepted()),
        (3, 13, 1)
    );
}

#[tokio::test]
async fn alpn_chooses_the_version_and_falls_back_to_http1() {
    let server = HttpServer::builder()
        .http2()
        .tls(Certificate::Trusted)
        .start()
        .unwrap();
    assert!(server.url("/").starts_with("https://localhost:"));
    let stream = handshake(&server, &["h2", "http/1.1"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let response = http2(stream)
        .await
        .send_request(request(&server, "/bytes/70000"))
        .await
        .unwrap();
    assert_eq!(body(response).await.len(), 70_000);

    let stream = handshake(&server, &[]).await.unwrap();
    let (mut client, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let request = Request::get("/status/404")
        .header("host", "localhost")
        .body(Full::<Bytes>::default())
        .unwrap();
    let response = client.send_request(request).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), response.version()),
        (404, Version::HTTP_11)
    );
    assert_eq!((server.accepted(), server.failed_handshakes()), (2, 0));
}

#[tokio::test]
async fn a_certificate_that_does_not_verify_is_refused_for_its_own_reason() {
    let cases = [
        (Certificate::WrongHost, "NotValidForName"),
        (Certificate::Expired, "Expired"),
        (Certificate::UnknownAuthority, "UnknownIssuer"),
    ];
    for (certificate, reason) in cases {
        let server = HttpServer::builder().tls(certificate).start().unwrap();
        let error = handshake(&server, &[]).await.unwrap_err();
        let text = format!("{error:?}");
        assert!(text.contains(reason), "{certificate:?}: {text}");
    }
}

#[test]
fn a_fault_that_hyper_cannot_play_is_refused_before_the_start() {
    let started = HttpServer::builder()
        .http2()
        .on(On::Every(10), Act::ResetMidBody)
        .start();
    let error = started.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("ResetMidBody"), "{error}");
}
