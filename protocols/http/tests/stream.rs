//! An answer as it comes.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use bytes::Bytes;
use openloop_http::{BodyReader, Connections, Head, Http, Piece};
use openloop_testbed::{Act, HttpServer, LlmServer, On, Script, StreamEnd};
use std::time::Duration;
use tokio::time::Instant;

/// Notes everything that it is shown.
#[derive(Default)]
struct Notes {
    statuses: Vec<u16>,
    sent: Option<Instant>,
    /// Of each piece: its bytes, the read, the stamp, and when it was shown.
    pieces: Vec<(usize, Option<u64>, Option<Instant>, Instant)>,
}

impl BodyReader for Notes {
    fn head(&mut self, head: &Head<'_>) {
        self.statuses.push(head.status.as_u16());
        self.sent = Some(head.sent);
        assert!(head.sent <= head.at && !head.headers.is_empty());
    }

    fn data(&mut self, data: &Bytes, piece: Piece<'_>) {
        let now = Instant::now();
        self.pieces
            .push((data.len(), piece.read(), piece.received(now), now));
    }
}

#[tokio::test]
async fn the_head_comes_once_and_then_every_byte() {
    for (http2, path) in [(false, "/chunked/100000"), (true, "/bytes/100000")] {
        let server = match http2 {
            true => HttpServer::builder().http2(),
            false => HttpServer::builder(),
        };
        let server = server.start().unwrap();
        let client = Http::builder(&server.url(path));
        let client = match http2 {
            true => client.http2(),
            false => client,
        };
        let http = client.build().unwrap();
        let mut notes = Notes::default();
        let reply = http.stream(http.request(), &mut notes).await.unwrap();
        assert_eq!(notes.statuses, [200]);
        let bytes: usize = notes.pieces.iter().map(|(bytes, ..)| bytes).sum();
        assert_eq!((bytes, reply.stages().bytes), (100_000, 100_000));
        // A shared connection reads for others as well.
        assert!(
            notes
                .pieces
                .iter()
                .all(|(_, read, ..)| read.is_none() == http2)
        );
        assert!(notes.pieces.is_sorted_by_key(|(_, read, ..)| *read));
    }
}

#[tokio::test]
async fn pieces_of_one_read_are_told_from_those_of_another() {
    let server = LlmServer::scripted(Script {
        ttft: Duration::from_millis(20),
        gap: Duration::from_millis(20),
    })
    .start()
    .unwrap();
    let http = Http::builder(&format!("{}/v1/completions", server.url()))
        .method("POST")
        .body(r#"{"prompt":"a","max_tokens":4,"stream":true}"#)
        .build()
        .unwrap();
    let mut notes = Notes::default();
    http.stream(http.request(), &mut notes).await.unwrap();
    // Four tokens, and the last read with the finish reason and the end.
    let mut reads: Vec<_> = notes.pieces.iter().map(|(_, read, ..)| *read).collect();
    let pieces = reads.len();
    reads.dedup();
    assert!(
        pieces >= 6 && reads.len() < pieces,
        "{pieces} pieces of {reads:?}"
    );
    let sent = notes.sent.unwrap();
    for (_, _, received, shown) in notes.pieces {
        assert!(received.is_none_or(|at| sent <= at && at <= shown));
    }
}

#[tokio::test]
async fn what_was_shown_of_a_broken_answer_stays() {
    let server = HttpServer::builder().start().unwrap();
    let http = Http::builder(&server.url("/reset-mid-body"))
        .build()
        .unwrap();
    let mut notes = Notes::default();
    let error = http.stream(http.request(), &mut notes).await.unwrap_err();
    assert_eq!(notes.statuses, [200]);
    let bytes: usize = notes.pieces.iter().map(|(bytes, ..)| bytes).sum();
    assert_eq!(error.stages().bytes, bytes as u64);
}

#[tokio::test]
async fn a_post_that_changes_nothing_may_be_said_to() {
    for repeatable in [false, true] {
        let server = HttpServer::builder()
            .on(On::Request(1), Act::Close)
            .start()
            .unwrap();
        let http = Http::builder(&server.url("/"))
            .method("POST")
            .body("ask")
            .connections(Connections::pool(1))
            .build()
            .unwrap();
        let request = || match repeatable {
            true => http.request().repeatable(),
            false => http.request(),
        };
        let mut notes = Notes::default();
        http.stream(request(), &mut notes).await.unwrap();
        let met = http.stream(request(), &mut notes).await;
        match met {
            Ok(reply) => assert!(repeatable && reply.stages().retries == 1),
            Err(error) => assert!(!repeatable && error.class() == "closed"),
        }
    }
}

/// A limit on the time of a call drops it: a server that streams must hear of that.
#[tokio::test]
async fn a_stream_that_is_given_up_is_generated_no_further() {
    let server = LlmServer::scripted(Script {
        ttft: Duration::from_millis(1),
        gap: Duration::from_millis(1),
    })
    .start()
    .unwrap();
    let http = Http::builder(&format!("{}/v1/completions", server.url()))
        .method("POST")
        .body(r#"{"prompt":"a","max_tokens":100000,"stream":true}"#)
        .build()
        .unwrap();
    let mut notes = Notes::default();
    let call = http.stream(http.request(), &mut notes);
    let late = tokio::time::timeout(Duration::from_millis(50), call).await;
    assert!(late.is_err());
    while server.under_way() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let log = server.log();
    assert_eq!(log[0].end, StreamEnd::ClientGone);
    assert!(log[0].tokens.len() < 100_000);
}
