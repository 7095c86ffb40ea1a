//! Every act as a bare socket sees it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic"
)]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use openloop_testbed::{Act, HttpServer, HttpServerBuilder, On, Service, Workers};

/// Longer than any answer takes, and short enough to end a test that has gone wrong.
const PATIENCE: Duration = Duration::from_secs(20);

fn start(builder: HttpServerBuilder) -> HttpServer {
    builder.start().unwrap()
}

fn connect(server: &HttpServer) -> TcpStream {
    let stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn send(stream: &mut TcpStream, path: &str) {
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes())
        .unwrap();
}

/// What comes until the connection ends, and how it ends.
fn read_all(stream: &mut TcpStream) -> (String, Option<ErrorKind>) {
    let mut bytes = Vec::new();
    let end = stream
        .read_to_end(&mut bytes)
        .err()
        .map(|error| error.kind());
    (String::from_utf8(bytes).unwrap(), end)
}

/// Everything that a server says to one request for `path`, then a FIN of ours.
fn exchange(server: &HttpServer, path: &str) -> (String, Option<ErrorKind>) {
    let mut stream = connect(server);
    send(&mut stream, path);
    stream.shutdown(Shutdown::Write).unwrap();
    read_all(&mut stream)
}

/// Reads exactly one ordinary answer and leaves the connection open.
fn read_ok(stream: &mut TcpStream) {
    let expected = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let mut bytes = vec![0; expected.len()];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(bytes, expected.as_bytes());
}

/// Waits for a change that the server's thread makes, without depending on how soon.
fn eventually(condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(
            begun.elapsed() < PATIENCE,
            "it did not come to pass in {PATIENCE:?}"
        );
        std::thread::yield_now();
    }
}

#[test]
fn a_connection_is_kept_alive_and_its_requests_are_logged_in_order() {
    let server = start(HttpServer::builder());
    let mut stream = connect(&server);
    for seq in [5, 3, 9] {
        stream
            .write_all(format!("GET / HTTP/1.1\r\nopenloop-seq: {seq}\r\n\r\n").as_bytes())
            .unwrap();
        read_ok(&mut stream);
    }
    let log = server.log();
    assert_eq!(
        log.iter().map(|served| served.seq).collect::<Vec<_>>(),
        [Some(5), Some(3), Some(9)]
    );
    assert!(
        log.iter()
            .all(|served| served.connection == 0 && served.status == Some(200))
    );
    assert!(
        log.windows(2)
            .all(|pair| pair[0].departure.unwrap() <= pair[1].arrival)
    );
    assert_eq!(
        (server.accepted(), server.open(), server.served()),
        (1, 1, 3)
    );
    drop(stream);
    eventually(|| server.open() == 0);
}

#[test]
fn pipelined_requests_are_answered_one_by_one() {
    let server = start(HttpServer::builder());
    let mut stream = connect(&server);
    stream
        .write_all("GET / HTTP/1.1\r\n\r\n".repeat(100).as_bytes())
        .unwrap();
    (0..100).for_each(|_| read_ok(&mut stream));
    assert_eq!(server.served(), 100);
}

#[test]
fn statuses_and_sizes_are_those_of_the_path() {
    let server = start(HttpServer::builder());
    assert!(
        exchange(&server, "/status/404")
            .0
            .starts_with("HTTP/1.1 404 Not Found\r\n")
    );
    assert_eq!(
        exchange(&server, "/status/204").0,
        "HTTP/1.1 204 No Content\r\n\r\n"
    );
    let (text, end) = exchange(&server, "/bytes/200000");
    assert!(text.ends_with(&"x".repeat(200_000)) && text.contains("content-length: 200000\r\n"));
    assert_eq!(end, None);
    let (text, _) = exchange(&server, "/chunked/3");
    assert!(text.ends_with("transfer-encoding: chunked\r\n\r\n3\r\nxxx\r\n0\r\n\r\n"));
    let statuses: Vec<_> = server.log().iter().map(|served| served.status).collect();
    assert_eq!(statuses, [Some(404), Some(204), Some(200), Some(200)]);
}

#[test]
fn a_reset_is_a_reset_and_comes_before_any_answer() {
    let server = start(HttpServer::builder().on(On::Request(1), Act::Reset));
    let mut stream = connect(&server);
    send(&mut stream, "/");
    read_ok(&mut stream);
    send(&mut stream, "/");
    assert_eq!(
        read_all(&mut stream),
        (String::new(), Some(ErrorKind::ConnectionReset))
    );
    assert_eq!(
        (server.log()[1].status, server.log()[1].departure),
        (None, None)
    );
}

#[test]
fn a_reset_in_mid_body_comes_after_half_of_it() {
    let server = start(HttpServer::builder());
    let mut stream = connect(&server);
    send(&mut stream, "/reset-mid-body");
    let (text, end) = read_all(&mut stream);
    assert_eq!(end, Some(ErrorKind::ConnectionReset));
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-length: 1000"));
    assert_eq!(body.len(), 500);
}

#[test]
fn a_close_without_an_answer_is_an_orderly_end() {
    let server = start(HttpServer::builder());
    let mut stream = connect(&server);
    send(&mut stream, "/close");
    assert_eq!(read_all(&mut stream), (String::new(), None));
}

#[test]
fn a_close_after_the_answer_is_not_announced_and_the_other_one_is() {
    let server = start(HttpServer::builder());
    let mut stream = connect(&server);
    send(&mut stream, "/close-after");
    let (text, end) = read_all(&mut stream);
    assert!(!text.contains("connection:") && text.ends_with("ok") && end.is_none());
    let mut stream = connect(&server);
    send(&mut stream, "/connection-close");
    let (text, end) = read_all(&mut stream);
    assert!(text.contains("connection: close\r\n") && text.ends_with("ok") && end.is_none());
}

#[test]
fn an_answer_of_http_1_0_ends_with_its_connection() {
    let server = start(HttpServer::builder());
    let mut stream = connect(&server);
    send(&mut stream, "/http10");
    assert_eq!(
        read_all(&mut stream),
        ("HTTP/1.0 200 OK\r\n\r\nok".to_owned(), None)
    );
}

#[test]
fn malformed_answers_are_malformed_where_they_should_be() {
    let server = start(HttpServer::builder());
    assert!(
        exchange(&server, "/bad-status-line")
            .0
            .starts_with("HTP/1.1 fine\r\n")
    );
    assert!(
        exchange(&server, "/bad-chunk")
            .0
            .ends_with("\r\n\r\n2\r\nok\r\nnone\r\n")
    );
    let statuses: Vec<_> = server.log().iter().map(|served| served.status).collect();
    assert_eq!(statuses, [None, Some(200)]);
}

#[test]
fn a_slow_answer_comes_byte_by_byte_over_its_time() {
    let server = start(HttpServer::builder());
    let mut stream = connect(&server);
    let begun = Instant::now();
    send(&mut stream, "/slow/100ms");
    let mut first = [0; 1];
    stream.read_exact(&mut first).unwrap();
    let mut rest = [0; 39];
    stream.read_exact(&mut rest).unwrap();
    // Forty bytes with a gap of a fortieth before each: never sooner.
    assert!(begun.elapsed() >= Duration::from_millis(99));
    assert!(rest.ends_with(b"ok"));
}

#[test]
fn a_request_without_an_answer_leaves_its_connection_open() {
    let server = start(HttpServer::builder());
    let mut stream = connect(&server);
    send(&mut stream, "/never");
    eventually(|| server.served() == 1);
    assert_eq!((server.open(), server.in_flight()), (1, 1));
    stream.set_nonblocking(true).unwrap();
    assert_eq!(
        stream.read(&mut [0; 1]).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );
    drop(stream);
    eventually(|| server.open() == 0 && server.in_flight() == 0);
    assert_eq!(server.log()[0].departure, None);
}

#[test]
fn requests_can_all_be_held_at_once() {
    let server = start(HttpServer::builder().on(On::Always, Act::Delay(Duration::from_secs(1))));
    let mut streams: Vec<_> = (0..500).map(|_| connect(&server)).collect();
    let begun = Instant::now();
    streams.iter_mut().for_each(|stream| send(stream, "/"));
    eventually(|| server.in_flight() == 500);
    streams.iter_mut().for_each(read_ok);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!((server.in_flight_peak(), server.served()), (500, 500));
}

#[test]
fn what_finds_no_place_to_wait_is_refused_at_once() {
    // One in service for ever, two waiting; the fourth finds no place.
    let builder = HttpServer::builder()
        .service(Service::fixed(Duration::from_secs(3600)))
        .workers(Workers::one().waiting(2));
    let server = start(builder);
    let mut held: Vec<_> = (0..3).map(|_| connect(&server)).collect();
    held.iter_mut().for_each(|stream| send(stream, "/"));
    eventually(|| server.in_flight() == 3);
    assert!(
        exchange(&server, "/")
            .0
            .starts_with("HTTP/1.1 503 Service Unavailable\r\n")
    );
    assert_eq!(
        (
            server.in_service_peak(),
            server.in_flight_peak(),
            server.served()
        ),
        (1, 4, 1)
    );
}

#[test]
fn a_server_that_does_not_accept_leaves_clients_in_the_queue_of_the_kernel() {
    let server = start(HttpServer::builder().backlog(1).accepting(false));
    // Linux holds backlog + 1; the SYN of the next is dropped, and sent again after 1 s.
    let mut queued = [connect(&server), connect(&server)];
    let refused = TcpStream::connect_timeout(&server.addr(), Duration::from_millis(200));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(server.accepted(), 0);
    queued.iter_mut().for_each(|stream| send(stream, "/"));
    server.set_accepting(true);
    queued.iter_mut().for_each(read_ok);
    eventually(|| server.accepted() == 2);
}

#[test]
fn what_was_sent_is_recorded_when_asked_for() {
    let server = start(HttpServer::builder().record_requests());
    let mut stream = connect(&server);
    let text = "PUT /echo?x=1 HTTP/1.1\r\nHost: a.b\r\nX-Two: 2\r\nContent-Type: text/plain\r\n\
                Content-Length: 5\r\n\r\nhello";
    stream.write_all(text.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let (answer, _) = read_all(&mut stream);
    assert!(answer.contains("content-type: text/plain\r\n") && answer.ends_with("\r\n\r\nhello"));
    let request = server.last_request().unwrap();
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("PUT", "/echo?x=1")
    );
    assert_eq!(
        (request.header("x-two"), request.header("HOST")),
        (Some("2"), Some("a.b"))
    );
    assert_eq!(
        (&request.body[..], request.version.as_str()),
        (&b"hello"[..], "HTTP/1.1")
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_rule_can_ask_for_an_echo_of_a_chunked_body() {
    let server = start(HttpServer::builder().on(On::Always, Act::Echo));
    let mut stream = connect(&server);
    stream
        .write_all(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        .unwrap();
    for piece in ["3\r\nab", "c\r\n", "2\r\nde\r\n0\r\n", "\r\n"] {
        stream.write_all(piece.as_bytes()).unwrap();
    }
    assert!(
        read_all(&mut stream)
            .0
            .ends_with("content-length: 5\r\n\r\nabcde")
    );
}

#[test]
fn requests_are_not_recorded_unless_asked_for() {
    let server = start(HttpServer::builder());
    let _ = exchange(&server, "/");
    assert!(server.requests().is_empty() && server.last_request().is_none());
}

#[test]
fn what_is_no_request_is_refused_and_the_connection_closed() {
    let server = start(HttpServer::builder());
    let mut stream = connect(&server);
    stream
        .write_all(b"\x16\x03\x01\x02\x00 hello\r\n\r\n")
        .unwrap();
    let (text, _) = read_all(&mut stream);
    assert!(text.starts_with("HTTP/1.1 400 Bad Request\r\n"));
}

#[test]
fn a_head_request_is_answered_without_a_body() {
    let server = start(HttpServer::builder());
    let mut stream = connect(&server);
    stream
        .write_all(b"HEAD /bytes/10 HTTP/1.1\r\nconnection: close\r\n\r\n")
        .unwrap();
    let (text, _) = read_all(&mut stream);
    assert_eq!(text, "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n");
}

#[test]
fn the_port_is_free_after_shutdown_and_the_log_remains() {
    let mut server = start(HttpServer::builder());
    let mut stream = connect(&server);
    send(&mut stream, "/");
    read_ok(&mut stream);
    server.shutdown();
    assert_eq!(read_all(&mut stream).0, "");
    assert_eq!(
        TcpStream::connect(server.addr()).unwrap_err().kind(),
        ErrorKind::ConnectionRefused
    );
    assert_eq!((server.served(), server.open()), (1, 0));
    let again = HttpServer::builder()
        .port(server.addr().port())
        .start()
        .unwrap();
    assert_eq!(again.addr(), server.addr());
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let server = start(HttpServer::builder());
    let taken = HttpServer::builder().port(server.addr().port()).start();
    assert_eq!(taken.unwrap_err().kind(), ErrorKind::AddrInUse);
}
