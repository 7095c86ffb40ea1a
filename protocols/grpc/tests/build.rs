//! What is refused before anything is sent.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_grpc::{BuildError, Builder, Grpc, Tls};
use std::time::Duration;

fn refused(builder: Builder) -> BuildError {
    builder.build().map(|_| ()).unwrap_err()
}

fn url(url: &str) -> BuildError {
    refused(Grpc::builder(url))
}

#[test]
fn urls_that_lead_nowhere_are_refused_with_what_to_write() {
    for text in ["", "localhost:50051", "http://", "http:///", "http://:80"] {
        let error = url(text);
        assert!(
            matches!(error, BuildError::NoHost { .. }),
            "{text:?}: {error:?}"
        );
        assert!(error.to_string().contains("http://host:port"));
    }
    for text in ["http://a b", "http://[::1", "http://host:99999"] {
        assert!(matches!(url(text), BuildError::Url { .. }), "{text:?}");
    }
    assert!(matches!(url("grpc://host"), BuildError::Scheme { scheme, .. } if scheme == "grpc"));
    let path = url("http://host/pkg.Svc/Method");
    assert!(matches!(path, BuildError::Path { path, .. } if path == "/pkg.Svc/Method"));
    assert!(matches!(url("http://host:0"), BuildError::Dialer(_)));
    assert!(Grpc::builder("http://[::1]:50051/").build().is_ok());
}

#[test]
fn a_password_in_the_url_is_refused_and_not_repeated() {
    let error = url("http://me:secret@host");
    assert!(matches!(error, BuildError::UserInfo));
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let grpc = || Grpc::builder("http://host");
    assert!(matches!(
        refused(grpc().channels(0)),
        BuildError::NoChannels
    ));
    let many = refused(grpc().channels(usize::MAX));
    assert!(many.to_string().contains("65536"), "{many}");
    let zero = grpc().deadline(Duration::ZERO);
    assert!(matches!(refused(zero), BuildError::ZeroDeadline));
    let tls = grpc().tls(Tls::insecure_accept_any_certificate());
    assert!(matches!(refused(tls), BuildError::TlsWithoutHttps { .. }));
    let reserved = grpc().metadata("grpc-timeout", "1S");
    assert!(refused(reserved).to_string().contains("deadline"));
    let authority = grpc().authority("a b");
    assert!(matches!(refused(authority), BuildError::Authority { .. }));
    let connect = grpc().connect_timeout(Duration::ZERO);
    assert!(matches!(refused(connect), BuildError::Dialer(_)));
}

#[test]
fn the_endpoint_is_that_of_the_url() {
    for (url, host, port) in [
        ("http://a:50051", "a", 50051),
        ("http://a", "a", 80),
        ("https://a/", "a", 443),
        ("http://[::1]:7", "::1", 7),
    ] {
        let grpc = Grpc::builder(url).channels(3).build().unwrap();
        assert_eq!(grpc.endpoint(), (host, port));
        assert_eq!(
            (grpc.channel_count(), grpc.max_concurrent_streams()),
            (3, None)
        );
    }
}
