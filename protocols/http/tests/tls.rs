//! HTTPS.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_http::{Connections, Http, Tls, Version};
use openloop_measurer::Operation;
use openloop_testbed::{Certificate, HttpServer};

fn client(server: &HttpServer, tls: Tls, connections: Connections) -> Http {
    Http::builder(&server.url("/bytes/20000"))
        .connections(connections)
        .version(Version::Http1)
        .tls(tls)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_trusted_server_is_spoken_to_and_the_handshake_is_a_stage() {
    let server = HttpServer::builder()
        .tls(Certificate::Trusted)
        .start()
        .unwrap();
    let tls = Tls::roots_from_pem(server.ca_pem().unwrap());
    let http = client(&server, tls, Connections::pool(1));
    let first = http.call(http.request()).await.unwrap();
    assert!(first.stages().dial.tls.is_some());
    assert_eq!(first.stages().bytes, 20_000);
    let second = http.call(http.request()).await.unwrap();
    assert_eq!(second.stages().dial.tls, None);
    assert!(second.stages().reused);
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn every_connection_pays_the_whole_handshake() {
    let server = HttpServer::builder()
        .tls(Certificate::Trusted)
        .start()
        .unwrap();
    let tls = Tls::roots_from_pem(server.ca_pem().unwrap());
    let http = client(&server, tls, Connections::PerRequest);
    for _ in 0..3 {
        let reply = http.call(http.request()).await.unwrap();
        assert!(reply.stages().dial.tls.is_some());
    }
    assert_eq!((server.accepted(), server.failed_handshakes()), (3, 0));
}

#[tokio::test]
async fn a_certificate_that_does_not_verify_is_known_before_any_load() {
    let cases = [
        (Certificate::WrongHost, "not valid for name"),
        (Certificate::Expired, "expired"),
        (Certificate::UnknownAuthority, "UnknownIssuer"),
    ];
    for (certificate, why) in cases {
        let server = HttpServer::builder().tls(certificate).start().unwrap();
        let tls = Tls::roots_from_pem(server.ca_pem().unwrap());
        let http = client(&server, tls, Connections::pool(5));
        let error = http.prepare().await.unwrap_err();
        assert_eq!(error.class(), "tls_certificate");
        assert!(error.to_string().contains(why), "{error}");
        // One attempt tells; the other four are not made.
        assert_eq!((http.sockets().opened(), http.sockets().open()), (1, 0));
        assert_eq!(server.served(), 0);
    }
}

#[tokio::test]
async fn any_certificate_will_do_where_that_was_said_aloud() {
    let server = HttpServer::builder()
        .tls(Certificate::UnknownAuthority)
        .start()
        .unwrap();
    let tls = Tls::insecure_accept_any_certificate();
    let http = client(&server, tls, Connections::pool(1));
    http.call(http.request()).await.unwrap();
}

#[tokio::test]
async fn another_name_can_be_asked_for() {
    let server = HttpServer::builder()
        .tls(Certificate::Trusted)
        .start()
        .unwrap();
    let tls = Tls::roots_from_pem(server.ca_pem().unwrap()).server_name("localhost");
    let http = Http::builder(&format!("https://127.0.0.2:{}/", server.addr().port()))
        .connections(Connections::pool(1))
        .address(server.addr())
        .tls(tls)
        .build()
        .unwrap();
    http.call(http.request()).await.unwrap();
}
