//! Several engines: who gets what, and handing over.

use crate::{arrivals, by_id, engine, exponential, mean, ms, rng, simulate, uniform};
use openloop_capacity::batching::{
    Cluster, ClusterConfig, EngineConfig, Layout, Outcome, Prefill, Request, Routing, Transfer,
};
use std::time::Duration;

/// One engine that prefills and one that decodes; 5 ms and 1 ms a block to hand over.
fn disaggregated(engine: EngineConfig) -> ClusterConfig {
    ClusterConfig {
        engine,
        layout: Layout::Disaggregated {
            prefill: 1,
            decode: 1,
            transfer: Transfer {
                latency: 0.005,
                per_block: 0.001,
            },
        },
        routing: Routing::RoundRobin,
    }
}

#[test]
fn handing_over_takes_its_time_between_the_first_token_and_the_second() {
    let outcome = simulate(disaggregated(engine()), &[(ms(0), Request::new(1, 100, 3))]);
    let done = &outcome.completions[0];
    // 7 blocks go over.
    assert_eq!(done.transfer, ms(12));
    assert_eq!(
        (done.time_to_first_token, done.longest_gap, done.end_to_end),
        (ms(110), ms(22), ms(142))
    );
    assert_eq!((done.engine, done.decoded_by), (0, 1));
    assert_eq!(outcome.engines[0].steps, 1);
    assert_eq!(outcome.engines[1].steps, 2);
    // An answer of one token has nobody to go to.
    let outcome = simulate(disaggregated(engine()), &[(ms(0), Request::new(1, 100, 1))]);
    assert_eq!(
        (outcome.completions[0].transfer, outcome.engines[1].requests),
        (ms(0), 0)
    );
}

#[test]
fn prompts_go_over_a_link_one_after_the_other_and_keep_their_blocks_until_then() {
    let mut cluster = Cluster::new(disaggregated(engine())).unwrap();
    for id in [1, 2] {
        cluster.submit(ms(0), Request::new(id, 100, 3)).unwrap();
    }
    cluster.advance(ms(210));
    assert_eq!(cluster.engines()[0].used_blocks, 14);
    cluster.advance(ms(222));
    assert_eq!(cluster.engines()[0].used_blocks, 7);
    cluster.advance(ms(234));
    assert_eq!(cluster.engines()[0].used_blocks, 0);
    let outcome = cluster.run([]);
    let transfers: Vec<_> = by_id(&outcome).iter().map(|done| done.transfer).collect();
    assert_eq!(transfers, [ms(12), ms(24)]);
}

#[test]
fn a_request_that_is_given_up_on_the_way_frees_both_ends() {
    let mut cluster = Cluster::new(disaggregated(engine())).unwrap();
    cluster.submit(ms(0), Request::new(1, 100, 3)).unwrap();
    cluster.advance(ms(115));
    assert!(cluster.cancel(ms(115), 1));
    assert_eq!(cluster.engines()[0].used_blocks, 0);
    // The same id again: what arrives late is not taken for it.
    cluster.submit(ms(115), Request::new(1, 50, 2)).unwrap();
    let outcome = cluster.run([]);
    crate::assert_consistent(&outcome);
    assert_eq!(outcome.completions[0].end_to_end, ms(60 + 9 + 10));
}

/// Short chats, and now and then a long document.
fn chats_and_documents() -> Vec<(Duration, Request)> {
    let mut rng = rng(1);
    arrivals(&mut rng, 4.0, 300)
        .into_iter()
        .zip(0..)
        .map(|(at, id)| {
            let prompt = if id % 10 == 9 { 1500 } else { 50 };
            (
                at,
                Request::new(id, prompt, 20 + (40.0 * uniform(&mut rng)) as u32),
            )
        })
        .collect()
}

#[test]
fn disaggregation_takes_the_prompts_out_of_the_time_between_tokens() {
    let requests = chats_and_documents();
    let config = |prefill| EngineConfig {
        prefill,
        max_step_tokens: 512,
        max_sequences: 64,
        ..engine()
    };
    let two = Layout::Mixed { engines: 2 };
    let mixed = |prefill| ClusterConfig {
        layout: two,
        ..ClusterConfig::single(config(prefill))
    };
    let whole = simulate(mixed(Prefill::Whole), &requests);
    let chunked = simulate(mixed(Prefill::Chunked), &requests);
    let apart = simulate(disaggregated(config(Prefill::Chunked)), &requests);
    let worst = |outcome: &Outcome| {
        outcome
            .completions
            .iter()
            .map(|done| done.longest_gap)
            .max()
            .unwrap()
    };
    // A whole document stops everybody, a piece of one holds them up, and with engines of their own neither does.
    assert!(worst(&whole) > ms(1500), "{:?}", worst(&whole));
    assert!(
        worst(&chunked) > ms(500) && worst(&chunked) < ms(1000),
        "{:?}",
        worst(&chunked)
    );
    // There the longest gap is what handing over takes, at most two steps of 10 ms beside the transfer.
    for done in &apart.completions {
        assert!(done.longest_gap <= done.transfer + ms(20), "{done:?}");
    }
    let tpot = |outcome: &Outcome| {
        let all = outcome
            .completions
            .iter()
            .filter_map(|done| done.time_per_output_token());
        mean(all.map(|tpot| tpot.as_secs_f64()))
    };
    assert!(
        tpot(&apart) < 0.6 * tpot(&chunked),
        "{} and {}",
        tpot(&apart),
        tpot(&chunked)
    );
    // The cost: one engine has all prompts, so that first tokens come later, and every answer waits for its transfer.
    let first = |outcome: &Outcome| {
        mean(
            outcome
                .completions
                .iter()
                .map(|done| done.time_to_first_token.as_secs_f64()),
        )
    };
    assert!(first(&apart) > first(&chunked));
    assert!(apart.completions.iter().all(|done| done.transfer >= ms(9)));
}

/// Poisson arrivals; prefixes of 60 blocks, of which a few are popular.
fn popular_prefixes(seed: u64) -> Vec<(Duration, Request)> {
    let mut rng = rng(seed);
    arrivals(&mut rng, 6.0, 600)
        .into_iter()
        .zip(0..)
        .map(|(at, id)| {
            // Half of all have the first prefix, a quarter the second, and so on.
            let group = exponential(&mut rng) / std::f64::consts::LN_2;
            let hashes = (0..60).map(|block| 1000 * group as u64 + block).collect();
            (
                at,
                Request::new(id, 16 * 60 + 40, 20).with_block_hashes(hashes),
            )
        })
        .collect()
}

/// The most requests that an engine had, by what it would have with equal shares.
fn clumping(outcome: &Outcome) -> f64 {
    let requests = outcome.engines.iter().map(|engine| engine.requests as f64);
    requests.clone().fold(0.0, f64::max) / mean(requests)
}

fn hit_rate(outcome: &Outcome) -> f64 {
    let [found, looked_up] = [
        outcome
            .engines
            .iter()
            .map(|engine| engine.found_blocks)
            .sum::<u64>(),
        outcome
            .engines
            .iter()
            .map(|engine| engine.looked_up_blocks)
            .sum(),
    ];
    found as f64 / looked_up as f64
}

#[test]
fn prefix_aware_routing_hits_more_and_clumps_where_nothing_bounds_it() {
    let requests = popular_prefixes(1);
    // Room for two of the prefixes and what is under way.
    let small = EngineConfig {
        blocks: 250,
        max_sequences: 16,
        max_step_tokens: 512,
        ..engine()
    };
    let run = |routing| {
        let config = ClusterConfig {
            engine: small,
            layout: Layout::Mixed { engines: 4 },
            routing,
        };
        simulate(config, &requests)
    };
    let in_turn = run(Routing::RoundRobin);
    let clumped = run(Routing::PrefixAware { most_ahead: None });
    let bounded = run(Routing::PrefixAware {
        most_ahead: Some(2),
    });
    assert_eq!(clumping(&in_turn), 1.0);
    assert!(
        hit_rate(&clumped) > hit_rate(&in_turn) + 0.1,
        "{} and {}",
        hit_rate(&clumped),
        hit_rate(&in_turn)
    );
    // Half of all requests have one prefix, and go to the engines that had it first.
    assert!(clumping(&clumped) > 1.4, "{}", clumping(&clumped));
    assert!(
        clumping(&bounded) < clumping(&clumped),
        "{}",
        clumping(&bounded)
    );
    let busiest = |outcome: &Outcome| {
        let all = outcome
            .engines
            .iter()
            .map(|engine| engine.utilisation.unwrap());
        (all.clone().fold(0.0, f64::max), all.fold(1.0, f64::min))
    };
    let ((most, least), (evenly, _)) = (busiest(&clumped), busiest(&in_turn));
    assert!(most > 1.5 * least, "{most} and {least}");
    assert!(evenly < 1.0);
}

#[test]
fn the_least_loaded_engine_is_spared_the_long_ones() {
    // One in four is a hundred times as long; in turn they all meet at one engine.
    let requests: Vec<_> = (0..200_u64)
        .map(|id| {
            let output = if id % 4 == 0 { 200 } else { 2 };
            (ms(60 * id), Request::new(id, 20, output))
        })
        .collect();
    let run = |routing| {
        let one = EngineConfig {
            max_sequences: 4,
            ..engine()
        };
        let config = ClusterConfig {
            engine: one,
            layout: Layout::Mixed { engines: 4 },
            routing,
        };
        let outcome = simulate(config, &requests);
        mean(
            outcome
                .completions
                .iter()
                .map(|done| done.queue_wait.as_secs_f64()),
        )
    };
    assert!(run(Routing::LeastLoaded) < 0.5 * run(Routing::RoundRobin));
}

#[test]
fn clusters_that_cannot_be_are_refused_by_name() {
    let refused = |layout, part: &str| {
        let config = ClusterConfig {
            layout,
            ..ClusterConfig::single(engine())
        };
        let text = Cluster::new(config).unwrap_err().to_string();
        assert!(text.contains(part), "{text:?} lacks {part:?}");
    };
    refused(Layout::Mixed { engines: 0 }, "the number of engines is 0");
    let transfer = Transfer {
        latency: f64::NAN,
        per_block: 0.0,
    };
    refused(
        Layout::Disaggregated {
            prefill: 1,
            decode: 0,
            transfer,
        },
        "engines that decode is 0",
    );
    refused(
        Layout::Disaggregated {
            prefill: 1,
            decode: 1,
            transfer,
        },
        "latency of a transfer is NaN",
    );
}
