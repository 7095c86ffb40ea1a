//! HTTP/2: connections on their way out, streams refused and reset.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use bytes::Bytes;
use h2::Reason;
use h2::server::{Connection, SendResponse};
use openloop_http::{Connections, Http};
use openloop_measurer::{Describe, Layout, Operation, Outcome, Recorder, Verdict};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

type Server = Connection<TcpStream, Bytes>;

/// What a server does with the n-th stream of a connection, n from 0.
#[derive(Clone, Copy)]
enum Act {
    Answer,
    Refuse,
    Reset,
    /// GOAWAY that lets the streams finish.
    AnswerAndLeave,
    /// GOAWAY that takes the streams with it.
    Leave,
    /// Tears the connection down (RST).
    Tear,
}

/// A server that follows `script` on each of its connections; the count is of those.
async fn serve(script: fn(u64) -> Act) -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let accepted = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&accepted);
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                if matches!(script(0), Act::Tear) {
                    socket.set_zero_linger().unwrap();
                }
                let mut connection: Server = h2::server::handshake(socket).await.unwrap();
                let mut number = 0;
                while let Some(Ok((_, respond))) = connection.accept().await {
                    if matches!(script(number), Act::Tear) {
                        return;
                    }
                    follow(script(number), &mut connection, respond);
                    number += 1;
                }
                let _ = poll_fn(|cx| connection.poll_closed(cx)).await;
            });
        }
    });
    (url, accepted)
}

fn follow(act: Act, connection: &mut Server, mut respond: SendResponse<Bytes>) {
    match act {
        Act::Refuse => respond.send_reset(Reason::REFUSED_STREAM),
        Act::Reset => respond.send_reset(Reason::INTERNAL_ERROR),
        Act::Leave => connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM),
        Act::Tear => {}
        Act::Answer | Act::AnswerAndLeave => {
            respond
                .send_response(http::Response::new(()), true)
                .unwrap();
            if matches!(act, Act::AnswerAndLeave) {
                connection.graceful_shutdown();
            }
        }
    }
}

fn client(url: &str, method: &str) -> Http {
    Http::builder(url)
        .connections(Connections::pool(1))
        .http2()
        .method(method)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_server_that_says_goodbye_after_some_streams_causes_no_error() {
    let script = |number| {
        if number == 4 {
            Act::AnswerAndLeave
        } else {
            Act::Answer
        }
    };
    let (url, accepted) = serve(script).await;
    let http = client(&url, "POST");
    http.prepare().await.unwrap();
    for _ in 0..50 {
        http.call(http.request()).await.unwrap();
    }
    let opened = http.sockets().opened();
    assert_eq!(opened, accepted.load(Ordering::Relaxed));
    // At least five streams went over each.
    assert!((2..=11).contains(&opened), "{opened}");
}

#[tokio::test]
async fn goodbye_to_a_stream_that_may_not_be_repeated_is_goaway() {
    let (url, _) = serve(|_| Act::Leave).await;
    let http = client(&url, "POST");
    http.prepare().await.unwrap();
    let error = http.call(http.request()).await.unwrap_err();
    assert_eq!(
        (error.class(), error.stages().retries),
        ("goaway", 0),
        "{error}"
    );
}

#[tokio::test]
async fn a_refused_stream_is_tried_once_more_and_then_rejected() {
    let (url, accepted) = serve(|_| Act::Refuse).await;
    let http = client(&url, "POST");
    let error = http.call(http.request()).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::Rejected("stream_refused"));
    assert_eq!(error.stages().retries, 1);
    // The connection is as good as before.
    assert_eq!(accepted.load(Ordering::Relaxed), 1);

    let (url, _) = serve(|number| {
        if number == 0 {
            Act::Refuse
        } else {
            Act::Answer
        }
    })
    .await;
    let http = client(&url, "POST");
    assert_eq!(http.call(http.request()).await.unwrap().stages().retries, 1);
}

#[tokio::test]
async fn a_stream_that_is_reset_leaves_its_connection_alone() {
    let script = |number: u64| match number.is_multiple_of(3) {
        true => Act::Reset,
        false => Act::Answer,
    };
    let (url, accepted) = serve(script).await;
    let http = client(&url, "GET");
    let error = http.call(http.request()).await.unwrap_err();
    assert_eq!((error.class(), error.stages().retries), ("stream_reset", 0));
    let layout = Layout::steady_only(Duration::from_secs(3600)).unwrap();
    let recorder = Recorder::new(Instant::now(), layout);
    for seq in 0..29 {
        let arrival = recorder.arrive_at(seq, Instant::now());
        let _ = arrival.measure(http.call(http.request())).await;
    }
    let outcomes: Vec<_> = recorder.snapshot().outcomes().collect();
    assert_eq!(
        outcomes,
        [(Outcome::Ok, 20), (Outcome::Failed("stream_reset"), 9)]
    );
    assert_eq!(accepted.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_connection_that_is_torn_down_is_a_reset_as_under_http1() {
    let (url, _) = serve(|_| Act::Tear).await;
    let http = client(&url, "POST");
    let error = http.call(http.request()).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::Failed("reset"), "{error}");
}
