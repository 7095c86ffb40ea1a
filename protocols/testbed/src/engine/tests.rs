use super::*;
use crate::service::uniform;

const MS: u64 = 1_000_000;

/// Feeds arrivals (instant, service), asking the engine only at every arrival and at the end.
fn run(mut engine: Engine<usize>, arrivals: &[(u64, u64)]) -> (Vec<Option<Span>>, usize) {
    let mut spans = vec![None; arrivals.len()];
    let mut refused = 0;
    for (number, &(at, service)) in arrivals.iter().enumerate() {
        if engine
            .arrive(at, service, number, |span, number| {
                spans[number] = Some(span)
            })
            .is_err()
        {
            refused += 1;
        }
    }
    engine.advance(u64::MAX, |span, number| spans[number] = Some(span));
    assert_eq!(engine.next_ns(), None);
    (spans, refused)
}

fn poisson(count: u64, gap_mean_ns: f64, service_mean_ns: f64, seed: u64) -> Vec<(u64, u64)> {
    let exponential = |mean: f64, seed: u64, n: u64| (-mean * (-uniform(seed, n)).ln_1p()) as u64;
    let mut at = 0;
    (0..count)
        .map(|n| {
            at += exponential(gap_mean_ns, seed, n);
            (at, exponential(service_mean_ns, seed + 1, n))
        })
        .collect()
}

#[test]
fn one_worker_follows_the_lindley_recursion_to_the_nanosecond() {
    let arrivals = poisson(100_000, 1.0e6, 0.75e6, 1);
    let (spans, _) = run(Engine::new(Workers::one(), Stalls::default()), &arrivals);
    let mut free = 0;
    for (span, (arrival, service)) in spans.into_iter().zip(arrivals) {
        let start = arrival.max(free);
        free = start + service;
        assert_eq!(
            span,
            Some(Span {
                arrival_ns: arrival,
                start_ns: start,
                finish_ns: free
            })
        );
    }
}

#[test]
fn several_workers_follow_the_recursion_of_kiefer_and_wolfowitz() {
    let arrivals = poisson(50_000, 1.0e6, 3.0e6, 2);
    let (spans, _) = run(
        Engine::new(Workers::servers(4), Stalls::default()),
        &arrivals,
    );
    let mut free = [0; 4];
    for (span, (arrival, service)) in spans.into_iter().zip(arrivals) {
        free.sort_unstable();
        let start = arrival.max(free[0]);
        free[0] = start + service;
        assert_eq!(
            span,
            Some(Span {
                arrival_ns: arrival,
                start_ns: start,
                finish_ns: free[0]
            })
        );
    }
}

#[test]
fn a_full_waiting_room_loses_what_the_loss_formula_says() {
    // M/M/1/K with ρ = 0.9 and room for 4 in all: P(loss) = (1 − ρ) ρ⁴ / (1 − ρ⁵) = 0.1602.
    let n = 400_000;
    let arrivals = poisson(n, 1.0e6, 0.9e6, 3);
    let (_, refused) = run(
        Engine::new(Workers::one().waiting(3), Stalls::default()),
        &arrivals,
    );
    let rho: f64 = 0.9;
    let loss = (1.0 - rho) * rho.powi(4) / (1.0 - rho.powi(5));
    let measured = refused as f64 / n as f64;
    assert!((measured - loss).abs() < 0.004, "{measured} against {loss}");
}

#[test]
fn no_waiting_room_means_erlang_b() {
    // M/M/4/4 offered 3 erlangs: B = (3⁴/4!) / Σ 3^k/k! = 0.2061.
    let n = 400_000;
    let arrivals = poisson(n, 1.0e6, 3.0e6, 4);
    let (_, refused) = run(
        Engine::new(Workers::servers(4).waiting(0), Stalls::default()),
        &arrivals,
    );
    let measured = refused as f64 / n as f64;
    assert!((measured - 0.206_107).abs() < 0.004, "{measured}");
}

#[test]
fn nothing_starts_inside_a_stall_and_what_had_started_finishes() {
    // 100/s, 1 ms each, nothing starts in [5 s, 6 s): the stall that every correct tool must show.
    let arrivals: Vec<_> = (0..1000).map(|k| (k * 10 * MS, MS)).collect();
    let stalls = Stalls::since_first_request(vec![(5000 * MS, 1000 * MS)]);
    let (spans, _) = run(Engine::new(Workers::one(), stalls), &arrivals);
    let mut responses: Vec<_> = spans
        .iter()
        .flatten()
        .map(|span| span.finish_ns - span.arrival_ns)
        .collect();
    assert_eq!(responses.len(), 1000);
    assert!(
        spans
            .iter()
            .flatten()
            .all(|span| !(5000 * MS..6000 * MS).contains(&span.start_ns))
    );
    assert_eq!(
        responses.iter().filter(|&&response| response > MS).count(),
        112
    );
    responses.sort_unstable();
    assert_eq!(
        (responses[499], responses[989], responses[999]),
        (MS, 911 * MS, 1001 * MS)
    );
}

#[test]
fn a_stall_on_command_holds_back_only_what_has_not_started() {
    let mut engine = Engine::new(Workers::one(), Stalls::default());
    let mut spans = Vec::new();
    for number in 0..3 {
        assert!(engine.arrive(number, 10, number, |_, _| ()).is_ok());
    }
    engine.stall(5, 105);
    engine.advance(u64::MAX, |span, _| {
        spans.push((span.start_ns, span.finish_ns))
    });
    assert_eq!(spans, [(0, 10), (105, 115), (115, 125)]);
}

#[test]
fn stalls_that_touch_are_one_and_a_request_before_them_is_served() {
    let mut engine = Engine::new(
        Workers::unlimited(),
        Stalls::since_first_request(vec![(10, 5), (15, 5)]),
    );
    assert!(engine.serve_at_once(100, 0).is_some());
    assert_eq!(engine.serve_at_once(110, 0), None);
    assert!(engine.arrive(110, 0, (), |_, ()| ()).is_ok());
    assert_eq!(engine.next_ns(), Some(120));
    let mut finish = 0;
    engine.advance(200, |span, ()| finish = span.finish_ns);
    assert_eq!(finish, 120);
    assert!(engine.serve_at_once(120, 0).is_some());
}

#[test]
fn without_a_limit_nobody_waits_and_the_peak_is_counted() {
    let mut engine = Engine::new(Workers::unlimited(), Stalls::default());
    for number in 0..10_000 {
        assert!(engine.arrive(number, MS, (), |_, ()| ()).is_ok());
    }
    assert_eq!(engine.peak(), 10_000);
    let mut late = 0;
    engine.advance(u64::MAX, |span, ()| {
        late += u64::from(span.start_ns != span.arrival_ns)
    });
    assert_eq!(late, 0);
}
