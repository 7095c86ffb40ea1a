//! A server that answers as no server of gRPC should.

use bytes::Bytes;
use h2::Reason;
use h2::server::SendResponse;
use http::{HeaderMap, HeaderValue};
use openloop_grpc::Grpc;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::{TcpListener, TcpStream};

/// What it does with a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stream {
    /// OK, with one empty message.
    Answer,
    Refuse,
    Reset,
    /// A message, and then a reset.
    ResetLate,
    /// GOAWAY that takes the streams with it.
    Leave,
    /// OK without a message, in the head.
    Nothing,
    /// A message, and no status behind it.
    NoStatus,
    /// A status that is no number.
    BadStatus,
    /// A message that ends before its length.
    Short,
    /// OK with two messages.
    Twice,
    /// A message with the flag of compression.
    Compressed,
    /// A page of a web server.
    Page,
}

/// A server that follows `script`, which is given the number of the stream on its connection, from 0; the count is of
/// the connections.
pub async fn serve(
    script: impl Fn(u64) -> Stream + Copy + Send + Sync + 'static,
) -> (Grpc, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let accepted = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&accepted);
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(follow(socket, script));
        }
    });
    (Grpc::builder(&url).build().unwrap(), accepted)
}

async fn follow(socket: TcpStream, script: impl Fn(u64) -> Stream) {
    let mut connection: h2::server::Connection<_, Bytes> =
        h2::server::handshake(socket).await.unwrap();
    let mut number = 0;
    while let Some(Ok((_, mut respond))) = connection.accept().await {
        match script(number) {
            Stream::Refuse => respond.send_reset(Reason::REFUSED_STREAM),
            Stream::Reset => respond.send_reset(Reason::INTERNAL_ERROR),
            Stream::Leave => connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM),
            Stream::Nothing => {
                let head = head().header("grpc-status", "0").body(()).unwrap();
                respond.send_response(head, true).unwrap();
            }
            Stream::Page => {
                let page = http::Response::builder().header("content-type", "text/html");
                let mut body = respond
                    .send_response(page.body(()).unwrap(), false)
                    .unwrap();
                body.send_data(Bytes::from_static(b"<html>"), true).unwrap();
            }
            Stream::ResetLate => {
                let mut body = respond
                    .send_response(head().body(()).unwrap(), false)
                    .unwrap();
                body.send_data(Bytes::from_static(&[0; 5]), false).unwrap();
                // What was given to the connection goes before the reset.
                let _ = poll_fn(|cx| {
                    let _ = connection.poll_closed(cx);
                    std::task::Poll::Ready(())
                })
                .await;
                body.send_reset(Reason::INTERNAL_ERROR);
            }
            Stream::NoStatus => answer(&mut respond, &[0; 5], None),
            Stream::BadStatus => answer(&mut respond, &[0; 5], Some("fine")),
            Stream::Short => answer(&mut respond, &[0, 0, 0, 0, 9, 1], Some("0")),
            Stream::Twice => answer(&mut respond, &[0; 10], Some("0")),
            Stream::Compressed => answer(&mut respond, &[1, 0, 0, 0, 0], Some("0")),
            Stream::Answer => answer(&mut respond, &[0; 5], Some("0")),
        }
        number += 1;
    }
    let _ = poll_fn(|cx| connection.poll_closed(cx)).await;
}

fn head() -> http::response::Builder {
    http::Response::builder().header("content-type", "application/grpc")
}

fn answer(respond: &mut SendResponse<Bytes>, body: &'static [u8], status: Option<&'static str>) {
    let mut body_stream = respond
        .send_response(head().body(()).unwrap(), false)
        .unwrap();
    body_stream
        .send_data(Bytes::from_static(body), status.is_none())
        .unwrap();
    if let Some(status) = status {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static(status));
        body_stream.send_trailers(trailers).unwrap();
    }
}
