//! A server that stands still for 2 s, and what users wait for it.

use crate::virtual_server::VirtualServer;
use crate::{client, ms, prompts, scripted};
use openloop_measurer::{Layout, Operation, Quantile, Recorder, Section};
use openloop_testbed::Stream;
use openloop_testbed::batching::{EngineConfig, StepCost};
use std::time::Duration;
use tokio::time::Instant;

const STALL: Duration = Duration::from_secs(2);

/// From the intended instant `at` to the first token of a server that takes `ttft`, where it stands still in [1 s, 3 s).
fn truth(at: Duration, ttft: Duration) -> Duration {
    let from = Duration::from_secs(1);
    let until = from + STALL;
    if at + ttft < from || at >= until {
        ttft
    } else if at < from {
        ttft + STALL
    } else {
        until - at + ttft
    }
}

/// A hundred a second for 5 s from the simulated server, on the paused clock: exact, to the nanosecond. Each request takes
/// one step of 10 ms to its first token, and another to its second; all that wait share one.
#[tokio::test(start_paused = true)]
async fn ttft_from_the_intended_instant_is_the_exact_triangle() {
    let engine = EngineConfig {
        cost: StepCost {
            base: 0.010,
            ..StepCost::default()
        },
        max_sequences: 1024,
        ..EngineConfig::default()
    };
    let start = Instant::now();
    let server = VirtualServer::start(engine, start + ms(1000)..start + ms(3000));
    let recorder = Recorder::new(start, Layout::steady_only(ms(5000)).unwrap());
    let mut running = tokio::task::JoinSet::new();
    for seq in 0..500 {
        let (recorder, server) = (recorder.clone(), server.clone());
        running.spawn(async move {
            let intended = start + ms(10 * seq);
            tokio::time::sleep_until(intended).await;
            let call = server.ask(seq, intended, 1, 2);
            recorder.arrive_at(seq, intended).measure(call).await
        });
    }
    running.join_all().await;
    let steady = recorder.finish().steady();
    // The step that the stall interrupts is that of the request at 1 s: whoever comes until it ends is in the next one.
    let exact = |at: Duration| match at > ms(1000) && at <= ms(3000) {
        true => ms(3000) - at + ms(20),
        false => truth(at, ms(10)),
    };
    let mut exact: Vec<_> = (0..500)
        .map(|seq| exact(ms(10 * seq)).as_nanos() as u64)
        .collect();
    exact.sort_unstable();
    assert_quantiles(&steady, "ttft", &exact, 0.001);
    let ttft = steady.metric("ttft").unwrap();
    assert_eq!(ttft.min_ns(), Some(10_000_000));
    assert_eq!(ttft.max_ns(), Some(2_010_000_000));
    // 202 arrivals wait: one whose first token was about to come, 200 in the stall, and one at its end.
    assert_eq!(exact.iter().filter(|ns| **ns > 10_000_000).count(), 202);
    let mean = exact.iter().sum::<u64>() as f64 / 500.0;
    assert_eq!(ttft.mean_ns(), Some(mean));
}

/// The same behind a limit on what is in flight, which a naive TTFT leaves out: from the sending nobody waited for more
/// than the stall itself, and most not at all.
#[tokio::test(start_paused = true)]
async fn what_waits_on_our_side_is_in_ttft_and_not_in_that_from_the_sending() {
    let engine = EngineConfig {
        cost: StepCost {
            base: 0.010,
            ..StepCost::default()
        },
        ..EngineConfig::default()
    };
    let start = Instant::now();
    let server = VirtualServer::start(engine, start + ms(1000)..start + ms(3000));
    let recorder = Recorder::new(start, Layout::steady_only(ms(5000)).unwrap());
    let places = std::sync::Arc::new(tokio::sync::Semaphore::new(4));
    let mut running = tokio::task::JoinSet::new();
    for seq in 0..500 {
        let (recorder, server, places) = (recorder.clone(), server.clone(), places.clone());
        running.spawn(async move {
            let intended = start + ms(10 * seq);
            tokio::time::sleep_until(intended).await;
            let call = async {
                let _place = places.acquire().await.unwrap();
                server.ask(seq, Instant::now(), 1, 2).await
            };
            recorder.arrive_at(seq, intended).measure(call).await
        });
    }
    running.join_all().await;
    let steady = recorder.finish().steady();
    let p90 = |name: &str| {
        steady
            .metric(name)
            .unwrap()
            .quantile(Quantile::P90)
            .unwrap()
    };
    assert!(p90("ttft") > 1_000_000_000, "{}", p90("ttft"));
    assert!(p90("ttft_sent") <= 20_100_000, "{}", p90("ttft_sent"));
}

/// Histograms keep three digits: `relative` is what they may be off.
fn assert_quantiles(steady: &Section, metric: &str, exact: &[u64], relative: f64) {
    let seen = steady.metric(metric).unwrap();
    assert_eq!(seen.count(), exact.len() as u64);
    for q in [Quantile::P50, Quantile::P90, Quantile::P99] {
        let rank = q.rank(exact.len() as u64) as usize;
        let (seen, exact) = (seen.quantile(q).unwrap() as f64, exact[rank - 1] as f64);
        assert!(
            (seen / exact - 1.0).abs() <= relative,
            "{q}: {seen} and {exact}"
        );
    }
}

/// The same on the real clock: no first token comes before its corner of the triangle, and each is seen when the server
/// wrote it, within 5 ms at the median. How late everything is depends on the machine.
#[tokio::test]
async fn a_real_stall_is_seen_from_the_intended_instants() {
    let server = scripted()
        .stall(Duration::from_secs(1), STALL)
        .start()
        .unwrap();
    let client = client(&server);
    client.prepare().await.unwrap();
    let start = Instant::now() + ms(5);
    let recorder = Recorder::new(start, Layout::steady_only(ms(4000)).unwrap());
    let mut running = tokio::task::JoinSet::new();
    for seq in 0..80 {
        let (recorder, client) = (recorder.clone(), client.clone());
        running.spawn(async move {
            let intended = start + ms(50 * seq);
            tokio::time::sleep_until(intended).await;
            let request = client.request(prompts(8, 2).prompt(1, seq)).unwrap();
            let call = client.call(request);
            let (answer, sample) = recorder.arrive_at(seq, intended).measure(call).await;
            (answer.unwrap(), sample)
        });
    }
    let answers = running.join_all().await;
    let log = server.log();
    let first = log
        .iter()
        .map(|stream: &Stream| stream.arrival)
        .min()
        .unwrap();
    let mut apart = Vec::new();
    for (answer, sample) in &answers {
        let intended = (start + sample.intended.as_duration()).into_std();
        let seen = answer.course().unwrap().first_token().unwrap().into_std();
        // Stalls count from the first request that the server read.
        let exact = truth(intended.saturating_duration_since(first), ms(50));
        assert!(
            seen + ms(1) >= intended + exact,
            "{:?} for {exact:?}",
            seen - intended
        );
        let written = log.iter().map(|stream| stream.tokens[0]);
        let nearest = written.map(|at| at.max(seen) - at.min(seen)).min();
        apart.push(nearest.unwrap());
    }
    apart.sort_unstable();
    assert!(apart[apart.len() / 2] < ms(5), "{apart:?}");
    let steady = recorder.finish().steady();
    let longest = steady.metric("ttft").unwrap().max_ns().unwrap();
    assert!(longest >= 2_040_000_000, "{longest}");
}
