//! What is refused before anything is sent.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_redis::{BuildError, Builder, Connections, Redis, Tls};
use std::time::Duration;

fn refused(builder: Builder) -> BuildError {
    builder.build().map(|_| ()).unwrap_err()
}

#[test]
fn urls_that_are_none_of_redis_are_refused_with_what_to_write() {
    for text in [
        "",
        "localhost",
        "http://host/",
        "redis://",
        "unix:///tmp/socket",
        "redis://host/x",
    ] {
        let error = refused(Redis::builder(text));
        assert!(matches!(error, BuildError::Url { .. }), "{text}: {error:?}");
        assert!(error.to_string().contains("redis://host:6379/0"), "{error}");
    }
    assert!(matches!(
        refused(Redis::builder("redis://host:0")),
        BuildError::Dialer(_)
    ));
}

#[test]
fn a_password_is_not_repeated() {
    for text in [
        "redis://me:secret@host/x",
        "http://:secret@host/",
        "redis://me:secret@/x y",
    ] {
        let error = refused(Redis::builder(text));
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    }
    let redis = Redis::builder("redis://:secret@host/").build().unwrap();
    assert!(!format!("{redis:?}").contains("secret"));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let redis = || Redis::builder("redis://host");
    let none = refused(redis().connections(Connections::pool(0)));
    assert!(matches!(none, BuildError::NoConnections));
    let flat = refused(redis().connections(Connections::pipelined(1, 0)));
    assert!(matches!(flat, BuildError::NoDepth));
    let deep = refused(redis().connections(Connections::pipelined(8, 1 << 18)));
    assert!(matches!(deep, BuildError::TooDeep { size: 8, .. }));
    let wide = refused(redis().connections(Connections::pipelined(usize::MAX, usize::MAX)));
    assert!(matches!(wide, BuildError::TooDeep { .. }));
    let tls = redis().tls(Tls::insecure_accept_any_certificate());
    assert!(matches!(refused(tls), BuildError::TlsWithoutRediss { .. }));
    let database = refused(Redis::builder("redis://host/1").cluster());
    assert!(matches!(
        database,
        BuildError::DatabaseOfCluster { database: 1 }
    ));
    let zero = redis().connect_timeout(Duration::ZERO);
    assert!(matches!(refused(zero), BuildError::Dialer(_)));
    let pem = Redis::builder("rediss://host").tls(Tls::roots_from_pem("nonsense"));
    assert!(matches!(refused(pem), BuildError::Dialer(_)));
}
