//! Receive stamps of whole exchanges on the real clock. The tolerance is 50 ms: a server's thread that has noted a
//! departure may be kept from writing for so long on a busy machine, though it is microseconds as a rule.
#![allow(clippy::unwrap_used)] // a test fails by panicking
#![cfg(target_os = "linux")]

use openloop_http::{Connections, Http, Tls, Version};
use openloop_measurer::Operation;
use openloop_testbed::{Certificate, HttpServer};
use std::time::Duration;
use tokio::time::Instant;

/// Calls until the kernel stamps, which it begins some time after it was asked.
async fn until_stamped(http: &Http) {
    while http
        .call(http.request())
        .await
        .unwrap()
        .stages()
        .received
        .is_none()
    {}
}

const TOLERANCE: Duration = Duration::from_millis(50);

#[tokio::test]
async fn the_stamp_is_the_servers_departure_and_not_the_completion() {
    let server = HttpServer::builder().start().unwrap();
    let http = Http::builder(&server.url("/delay/5ms"))
        .connections(Connections::pool(1))
        .build()
        .unwrap();
    until_stamped(&http).await;
    for _ in 0..10 {
        let reply = http.call(http.request()).await.unwrap();
        let completed = Instant::now();
        let received = reply.stages().received.unwrap();
        assert!(received <= completed);
        let departed = Instant::from_std(server.log().last().unwrap().departure.unwrap());
        let apart = received.max(departed) - received.min(departed);
        assert!(
            apart <= TOLERANCE,
            "{apart:?} from the server's own departure"
        );
    }
}

#[tokio::test]
async fn a_reader_that_is_late_is_seen_in_the_stamp() {
    let server = HttpServer::builder().start().unwrap();
    let http = Http::builder(&server.url("/"))
        .connections(Connections::pool(1))
        .build()
        .unwrap();
    until_stamped(&http).await;
    let before = server.served();
    let late = Duration::from_millis(150);
    // On one thread: while the other task blocks it nobody reads the answer that is there.
    let call = http.call(http.request());
    let blocks = async {
        while server.served() == before {
            tokio::task::yield_now().await;
        }
        std::thread::sleep(late);
    };
    // The call is polled first, and so has been sent when the other begins to wait.
    let (reply, ()) = tokio::join!(biased; call, blocks);
    let completed = Instant::now();
    let reply = reply.unwrap();
    let pickup = completed - reply.stages().received.unwrap();
    assert!(pickup + TOLERANCE >= late, "{pickup:?}");
}

#[tokio::test]
async fn handling_the_body_is_in_its_stage_and_does_not_move_the_stamp() {
    let server = HttpServer::builder().start().unwrap();
    let http = Http::builder(&server.url("/bytes/10"))
        .connections(Connections::pool(1))
        .build()
        .unwrap();
    until_stamped(&http).await;
    let work = Duration::from_millis(150);
    let reply = http
        .call_with(http.request(), |_| std::thread::sleep(work))
        .await
        .unwrap();
    let stages = reply.stages();
    assert!(stages.body.unwrap() >= work, "{stages:?}");
    let received = stages.received.unwrap();
    let departed = Instant::from_std(server.log().last().unwrap().departure.unwrap());
    let apart = received.max(departed) - received.min(departed);
    assert!(
        apart <= TOLERANCE,
        "{apart:?} from the server's own departure"
    );
}

#[tokio::test]
async fn under_tls_there_is_a_stamp_as_well() {
    let server = HttpServer::builder()
        .tls(Certificate::Trusted)
        .start()
        .unwrap();
    let http = Http::builder(&server.url("/bytes/100000"))
        .connections(Connections::pool(1))
        .version(Version::Http1)
        .tls(Tls::roots_from_pem(server.ca_pem().unwrap()))
        .build()
        .unwrap();
    until_stamped(&http).await;
    for _ in 0..3 {
        let started = Instant::now();
        let reply = http.call(http.request()).await.unwrap();
        let received = reply.stages().received.unwrap();
        assert!(started <= received && received <= Instant::now());
    }
}

/// Takes a second, as the kernel does before it sends a SYN again.
#[tokio::test]
async fn a_full_accept_queue_is_named() {
    let server = HttpServer::builder()
        .backlog(0)
        .accepting(false)
        .start()
        .unwrap();
    let _fills_the_queue = std::net::TcpStream::connect(server.addr()).unwrap();
    let http = Http::builder(&server.url("/"))
        .connections(Connections::PerRequest)
        .build()
        .unwrap();
    // The call is polled first: its SYN is dropped before there is room.
    let accept = async { server.set_accepting(true) };
    let (reply, ()) = tokio::join!(biased; http.call(http.request()), accept);
    let stages = *reply.unwrap().stages();
    assert!(stages.dial.syn_retries >= 1, "{stages:?}");
    assert!(stages.dial.connect.unwrap() >= Duration::from_millis(990));
    assert_eq!(stages.acquire, Duration::ZERO);
}
