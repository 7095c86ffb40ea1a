//! What is refused before anything is sent.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use bytes::Bytes;
use openloop_http::{BuildError, Builder, Connections, Http, RequestError, Tls};
use std::time::Duration;

fn refused(builder: Builder) -> BuildError {
    builder.build().map(|_| ()).unwrap_err()
}

fn url(url: &str) -> BuildError {
    refused(Http::builder(url))
}

#[test]
fn urls_that_lead_nowhere_are_refused_with_what_to_write() {
    for text in [
        "",
        "http://",
        "http:///path",
        "/path",
        "localhost",
        "http://:80/",
    ] {
        let error = url(text);
        assert!(
            matches!(error, BuildError::NoHost { .. }),
            "{text:?}: {error:?}"
        );
    }
    assert_eq!(
        url("http://").to_string(),
        "\"http://\" has no host; write it as http://host:port/path"
    );
    for text in ["http://a b/", "http://[::1", "http://host:99999/"] {
        let error = url(text);
        assert!(
            matches!(error, BuildError::Url { .. }),
            "{text:?}: {error:?}"
        );
    }
    assert!(matches!(url("ftp://host/"), BuildError::Scheme { scheme, .. } if scheme == "ftp"));
    assert!(matches!(url("http://host:0/"), BuildError::Dialer(_)));
}

#[test]
fn a_password_in_the_url_is_refused_and_not_repeated() {
    for text in [
        "http://me:secret@host/",
        "https://secret@host",
        "http://a b:secret@host/",
    ] {
        let error = url(text);
        assert!(matches!(error, BuildError::UserInfo), "{text}");
        assert!(!format!("{error} {error:?}").contains("secret"));
    }
}

#[test]
fn an_at_sign_in_the_path_is_no_password() {
    assert!(Http::builder("http://host/@me?a=@").build().is_ok());
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let http = || Http::builder("http://host/");
    let none = Connections::pool(0);
    assert!(matches!(
        refused(http().connections(none)),
        BuildError::NoConnections
    ));
    let shared = http().http2().connections(Connections::PerInFlight);
    assert!(matches!(refused(shared), BuildError::PerInFlightHttp2));
    let tls = http().tls(Tls::insecure_accept_any_certificate());
    assert!(matches!(refused(tls), BuildError::TlsWithoutHttps { .. }));
    assert!(matches!(
        refused(http().method("A B")),
        BuildError::Method { .. }
    ));
    assert!(matches!(
        refused(http().header("a b", "")),
        BuildError::HeaderName { .. }
    ));
    assert!(matches!(
        refused(http().header("a", "\n")),
        BuildError::HeaderValue { .. }
    ));
    let zero = http().connect_timeout(Duration::ZERO);
    assert!(matches!(refused(zero), BuildError::Dialer(_)));
    let pem = Http::builder("https://host/").tls(Tls::roots_from_pem("nonsense"));
    assert!(matches!(refused(pem), BuildError::Dialer(_)));
}

#[test]
fn headers_that_the_client_sets_are_refused() {
    for name in ["content-length", "transfer-encoding", "upgrade"] {
        let error = refused(Http::builder("http://host/").header(name, "1"));
        assert!(
            matches!(error, BuildError::Request(RequestError::Header { .. })),
            "{name}"
        );
    }
    let tunnel = refused(Http::builder("http://host/").method("CONNECT"));
    assert!(matches!(tunnel, BuildError::Request(RequestError::Connect)));
}

#[test]
fn a_request_for_another_server_is_refused() {
    let http = Http::builder("http://host:8080/").build().unwrap();
    let from = |uri: &str| {
        let request = http::Request::get(uri).body(Bytes::new()).unwrap();
        http.request_from(request)
    };
    for uri in ["http://other:8080/", "http://host/", "https://host:8080/"] {
        assert!(
            matches!(from(uri), Err(RequestError::OtherServer { .. })),
            "{uri}"
        );
    }
    for uri in ["/", "/a?b", "http://host:8080/a", "http://HOST:8080/"] {
        assert!(from(uri).is_ok(), "{uri}");
    }
    assert_eq!(
        from("/a?b").unwrap().uri().to_string(),
        "http://host:8080/a?b"
    );
}

#[test]
fn the_host_header_has_the_port_where_it_is_not_the_schemes_own() {
    let cases = [
        ("http://host/", "host"),
        ("http://host:80/", "host"),
        ("http://host:8080/", "host:8080"),
        ("http://[::1]:8080/", "[::1]:8080"),
    ];
    for (url, host) in cases {
        let request = Http::builder(url).build().unwrap().request();
        assert_eq!(request.headers()["host"], host, "{url}");
    }
}
