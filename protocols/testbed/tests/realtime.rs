//! The server against the real clock. Each test states its tolerance, which is that of a loaded
//! two-core machine; the exact instants are tested without a clock in the engine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use openloop_testbed::{HttpServer, Served, Service, Workers};

const ANSWER: usize = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".len();

/// Sends `count` requests over `connections`, request k at k times `gap`, whatever the answers do.
fn load(server: &HttpServer, count: u64, gap: Duration, connections: u64) {
    let begun = Instant::now() + Duration::from_millis(20);
    std::thread::scope(|scope| {
        for connection in 0..connections {
            scope.spawn(move || {
                let mut stream = TcpStream::connect(server.addr()).unwrap();
                stream.set_nodelay(true).unwrap();
                for seq in (connection..count).step_by(usize::try_from(connections).unwrap()) {
                    let at = begun + gap * u32::try_from(seq).unwrap();
                    std::thread::sleep(at.saturating_duration_since(Instant::now()));
                    stream
                        .write_all(
                            format!("GET / HTTP/1.1\r\nopenloop-seq: {seq}\r\n\r\n").as_bytes(),
                        )
                        .unwrap();
                    stream.read_exact(&mut [0; ANSWER]).unwrap();
                }
            });
        }
    });
}

/// How much later than computed each answer was written, sorted; never sooner.
fn lateness(log: &[Served], service: &Service) -> Vec<Duration> {
    let late = |served: &Served| {
        let due = served.start + service.time(served.seq.unwrap());
        served
            .departure
            .unwrap()
            .checked_duration_since(due)
            .expect("an answer was sent before it was due")
    };
    let mut late: Vec<_> = log.iter().map(late).collect();
    late.sort_unstable();
    late
}

fn by_arrival(server: &HttpServer) -> Vec<Served> {
    let mut log = server.log();
    log.sort_by_key(|served| served.arrival);
    log
}

#[test]
fn one_worker_starts_each_request_as_the_recursion_of_its_own_arrivals_says() {
    let service = Service::exponential(Duration::from_millis(1), 7);
    let server = HttpServer::builder()
        .service(service.clone())
        .workers(Workers::one())
        .start()
        .unwrap();
    load(&server, 1500, Duration::from_micros(1333), 16);
    let log = by_arrival(&server);
    assert_eq!(log.len(), 1500);
    let mut free = log[0].arrival;
    for served in &log {
        // Exact: the recursion is in nanoseconds and knows nothing of the timer.
        assert_eq!(served.start, served.arrival.max(free));
        free = served.start + service.time(served.seq.unwrap());
    }
    let late = lateness(&log, &service);
    // Tolerance: 50 µs at the median, where an idle core shows 1 to 2 µs; tokio's timer shows 550.
    assert!(
        late[late.len() / 2] < Duration::from_micros(50),
        "median {:?}",
        late[late.len() / 2]
    );
}

#[test]
fn four_workers_serve_four_at_once_and_no_more() {
    let service = Service::fixed(Duration::from_millis(3));
    let server = HttpServer::builder()
        .service(service.clone())
        .workers(Workers::servers(4))
        .start()
        .unwrap();
    load(&server, 400, Duration::from_micros(900), 16);
    let log = by_arrival(&server);
    let mut free = [log[0].arrival; 4];
    for served in &log {
        free.sort_unstable();
        assert_eq!(served.start, served.arrival.max(free[0]));
        free[0] = served.start + service.time(served.seq.unwrap());
    }
    assert!(server.in_service_peak() <= 4);
}

#[test]
fn nothing_starts_in_a_stall_and_the_queue_of_it_drains_after_it() {
    let service = Service::fixed(Duration::from_millis(1));
    let server = HttpServer::builder()
        .service(service.clone())
        .workers(Workers::one())
        .stall(Duration::from_millis(200), Duration::from_millis(100))
        .start()
        .unwrap();
    // Enough connections that every request of the stall is sent at its time.
    load(&server, 50, Duration::from_millis(10), 20);
    let log = by_arrival(&server);
    let (from, until) = (
        log[0].arrival + Duration::from_millis(200),
        log[0].arrival + Duration::from_millis(300),
    );
    assert!(
        log.iter()
            .all(|served| !(from..until).contains(&served.start))
    );
    let held = log
        .iter()
        .filter(|served| (from..until).contains(&served.arrival))
        .count();
    // Arrivals are threads that sleep: one or two may fall to the other side of an edge.
    assert!((8..=11).contains(&held), "{held} arrived in the stall");
    assert!(
        log.iter()
            .all(|served| served.departure.unwrap() >= served.start + Duration::from_millis(1))
    );
}

#[test]
fn a_stall_on_command_holds_instant_answers_back() {
    let server = HttpServer::builder().start().unwrap();
    let before = Instant::now();
    server.stall_for(Duration::from_millis(50));
    let after = Instant::now();
    load(&server, 1, Duration::ZERO, 1);
    let log = server.log();
    assert!(log[0].start >= before + Duration::from_millis(50));
    assert!(log[0].start <= after + Duration::from_millis(50));
    assert!(log[0].departure.unwrap() >= log[0].start);
}

#[test]
fn a_client_in_the_same_process_reads_the_same_clock() {
    let server = HttpServer::builder()
        .service(Service::fixed(Duration::from_millis(2)))
        .start()
        .unwrap();
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    let before = Instant::now();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; ANSWER]).unwrap();
    let after = Instant::now();
    let served = &server.log()[0];
    assert!(before < served.arrival && served.departure.unwrap() < after);
    let clock = server.clock();
    assert!(clock.monotonic_ns(served.arrival) > clock.monotonic_ns(before));
}

#[cfg(target_os = "linux")]
#[test]
fn the_bare_generator_sends_each_request_once_and_none_before_its_instant() {
    use openloop_testbed::control::Control;
    // How far apart the clocks of the two sides may be tied to the kernel's; there is no bound on
    // the other side, since a loaded machine is late.
    const TOLERANCE: Duration = Duration::from_micros(20);
    let server = HttpServer::builder().start().unwrap();
    let offsets: Vec<_> = (0..100).map(Duration::from_millis).collect();
    let mut control = Control::connect(server.addr(), 3).unwrap();
    let run = control.run(offsets.clone()).unwrap();
    let log = by_arrival(&server);
    assert_eq!((run.sent, log.len()), (100, 100));
    for (served, offset) in log.iter().zip(offsets) {
        assert!(served.arrival + TOLERANCE >= run.began + offset);
    }
}
