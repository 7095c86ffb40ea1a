//! What single steps do, by hand.

use crate::{PLAIN, by_id, engine, ms, rng, simulate};
use openloop_capacity::batching::{
    Cluster, ClusterConfig, EngineConfig, EventKind, Outcome, Prefill, Refused, Request, StepCost,
};
use std::time::Duration;

fn single(config: EngineConfig) -> ClusterConfig {
    ClusterConfig::single(config)
}

#[test]
fn a_step_costs_what_is_in_it() {
    let cost = StepCost {
        per_sequence: 0.002,
        per_context_token: 0.0001,
        ..PLAIN
    };
    let outcome = simulate(
        single(EngineConfig { cost, ..engine() }),
        &[(ms(0), Request::new(1, 100, 3))],
    );
    // 10 + 100 ms; then 10 + 2 ms and 0.1 ms for each of 101 tokens; then the same of 102.
    let done = &outcome.completions[0];
    assert_eq!(done.time_to_first_token, ms(110));
    let decode = Duration::from_micros(22_100 + 22_200);
    assert_eq!(done.end_to_end, ms(110) + decode);
    assert_eq!(done.time_per_output_token(), Some(decode / 2));
    assert_eq!(done.longest_gap, Duration::from_micros(22_200));
    assert_eq!(
        (done.queue_wait, done.preemptions, done.cached_blocks),
        (ms(0), 0, 0)
    );
    let engine = outcome.engines[0];
    assert_eq!(
        (engine.steps, engine.busy, engine.utilisation),
        (3, outcome.elapsed, Some(1.0))
    );
    // 7 blocks of 16 hold 102 tokens.
    assert_eq!(engine.most_used_blocks, 7);
}

#[test]
fn those_that_arrive_together_share_a_step() {
    let outcome = simulate(
        single(engine()),
        &[
            (ms(5), Request::new(1, 30, 1)),
            (ms(5), Request::new(2, 40, 1)),
        ],
    );
    assert!(
        outcome
            .completions
            .iter()
            .all(|done| done.end_to_end == ms(80))
    );
    assert_eq!(outcome.engines[0].mean_batch, Some(2.0));
}

#[test]
fn a_sequence_joins_between_steps_and_waits_until_then() {
    let outcome = simulate(
        single(engine()),
        &[
            (ms(0), Request::new(1, 10, 3)),
            (ms(7), Request::new(2, 10, 1)),
        ],
    );
    // The first step ends at 20 ms; the second decodes one and prefills the other, and takes 20 ms again.
    let all = by_id(&outcome);
    assert_eq!(
        (all[0].time_to_first_token, all[0].end_to_end),
        (ms(20), ms(50))
    );
    assert_eq!(
        (all[1].queue_wait, all[1].time_to_first_token),
        (ms(13), ms(33))
    );
}

#[test]
fn a_long_prompt_stops_the_others_whole_and_slows_them_down_in_pieces() {
    let requests = [
        (ms(0), Request::new(1, 10, 40)),
        (ms(100), Request::new(2, 1000, 2)),
    ];
    let run = |prefill| {
        let config = EngineConfig {
            prefill,
            max_step_tokens: 256,
            ..engine()
        };
        let outcome = simulate(single(config), &requests);
        let all = by_id(&outcome);
        (
            all[0].longest_gap,
            all[0].end_to_end,
            all[1].time_to_first_token,
        )
    };
    let (gap, end, first) = run(Prefill::Whole);
    // One step of 10 + 1000 ms, and the token that it delays was due 10 ms after the one before.
    assert_eq!(
        (gap, end, first),
        (ms(1020), ms(20 + 1010 + 39 * 10), ms(1010))
    );
    let (gap, end, first) = run(Prefill::Chunked);
    // Four steps, of 255 tokens and the rest, each with a token of the other: 1000 ms for the prompt as before.
    assert_eq!((gap, end), (ms(265), ms(20 + 1000 + 39 * 10)));
    assert_eq!(first, ms(1000 + 4 * 10));
}

#[test]
fn a_batch_has_no_more_than_it_may() {
    let requests: Vec<_> = (0..10)
        .map(|id| (ms(0), Request::new(id, 10, 20)))
        .collect();
    let outcome = simulate(
        single(EngineConfig {
            max_sequences: 4,
            ..engine()
        }),
        &requests,
    );
    assert_eq!(outcome.engines[0].largest_batch, 4);
    let waits: Vec<_> = by_id(&outcome)
        .iter()
        .map(|done| done.queue_wait > ms(0))
        .collect();
    assert_eq!(
        waits,
        [
            false, false, false, false, true, true, true, true, true, true
        ]
    );
}

/// 200 requests of all sorts.
fn mixed(seed: u64) -> Vec<(Duration, Request)> {
    let mut rng = rng(seed);
    let times = crate::arrivals(&mut rng, 20.0, 200);
    let of = |(at, id): (Duration, u64)| {
        let (prompt, output) = (crate::uniform(&mut rng), crate::uniform(&mut rng));
        let request = Request::new(
            id,
            (400.0 * prompt).ceil() as u32,
            (60.0 * output).ceil() as u32,
        );
        (
            at,
            request.with_block_hashes((0..5).map(|i| 10 * (id % 7) + i).collect()),
        )
    };
    times.into_iter().zip(0..).map(of).collect()
}

fn small() -> EngineConfig {
    EngineConfig {
        blocks: 120,
        max_sequences: 16,
        max_step_tokens: 128,
        ..engine()
    }
}

#[test]
fn the_same_requests_give_the_same_outcome() {
    let (one, other) = (
        simulate(single(small()), &mixed(1)),
        simulate(single(small()), &mixed(1)),
    );
    assert_eq!(one, other);
    assert_ne!(one, simulate(single(small()), &mixed(2)));
}

#[test]
fn step_by_step_is_what_runs_at_once() {
    let requests = mixed(3);
    let expected = simulate(single(small()), &requests);
    let mut cluster = Cluster::new(single(small())).unwrap();
    let mut found = Outcome::default();
    let (mut tokens, mut events) = (0, vec![]);
    let mut pending = requests.iter().peekable();
    loop {
        let next = cluster.next_event();
        let arrival = pending.peek().map(|(at, _)| *at);
        match (next, arrival) {
            // In any pieces: an instant between events changes nothing.
            (Some(at), Some(arrives)) if at <= arrives => {
                events.extend(cluster.advance(cluster.now() + (at - cluster.now()) / 2));
                events.extend(cluster.advance(at));
            }
            (_, Some(_)) => {
                let (at, request) = pending.next().unwrap();
                cluster.submit(*at, request.clone()).unwrap();
            }
            (Some(at), None) => events.extend(cluster.advance(at)),
            (None, None) => break,
        }
    }
    assert!(events.is_sorted_by_key(|event| event.at));
    for event in events {
        match event.kind {
            EventKind::Token { .. } => tokens += 1,
            EventKind::Finished(completion) => {
                assert_eq!(completion.id, event.id);
                assert_eq!(completion.arrived + completion.end_to_end, event.at);
                found.completions.push(completion);
            }
            _ => {}
        }
    }
    assert_eq!(found.completions, expected.completions);
    assert_eq!(cluster.engines(), expected.engines);
    let asked: u32 = requests
        .iter()
        .map(|(_, request)| request.output_tokens)
        .sum();
    assert_eq!(tokens, asked);
}

#[test]
fn tokens_are_numbered_and_told_when_they_are_there() {
    let mut cluster = Cluster::new(single(engine())).unwrap();
    cluster.submit(ms(0), Request::new(7, 10, 3)).unwrap();
    assert_eq!(cluster.next_event(), Some(ms(20)));
    let told: Vec<_> = cluster
        .advance(ms(100))
        .into_iter()
        .map(|event| (event.at, event.id, event.kind))
        .collect();
    assert_eq!(
        told[0],
        (
            ms(0),
            7,
            EventKind::Admitted {
                engine: 0,
                cached_blocks: 0
            }
        )
    );
    for (number, at) in [(0, 20), (1, 30), (2, 40)] {
        assert_eq!(
            told[1 + number as usize],
            (ms(at), 7, EventKind::Token { number })
        );
    }
    assert!(matches!(&told[4], (_, 7, EventKind::Finished(done)) if done.end_to_end == ms(40)));
    assert_eq!(
        (told.len(), cluster.next_event(), cluster.now()),
        (5, None, ms(100))
    );
}

#[test]
fn a_request_that_is_given_up_frees_its_blocks_at_once() {
    let mut cluster = Cluster::new(single(engine())).unwrap();
    cluster.submit(ms(0), Request::new(1, 100, 50)).unwrap();
    cluster.submit(ms(0), Request::new(2, 100, 5)).unwrap();
    cluster.advance(ms(215));
    assert_eq!(
        (
            cluster.engines()[0].used_blocks,
            cluster.engines()[0].running
        ),
        (14, 2)
    );
    assert!(cluster.cancel(ms(215), 1));
    assert!(!cluster.cancel(ms(215), 1));
    assert_eq!(
        (
            cluster.engines()[0].used_blocks,
            cluster.engines()[0].running
        ),
        (7, 1)
    );
    // Its id is free again.
    cluster.submit(ms(215), Request::new(1, 10, 1)).unwrap();
    cluster.submit(ms(215), Request::new(3, 10, 1)).unwrap();
    assert!(cluster.cancel(ms(215), 3));
    let outcome = cluster.run([]);
    crate::assert_consistent(&outcome);
    let ids: Vec<_> = by_id(&outcome).iter().map(|done| done.id).collect();
    assert_eq!(ids, [1, 2]);
}

#[test]
fn what_cannot_be_served_is_refused_with_what_to_do() {
    let mut cluster = Cluster::new(single(EngineConfig {
        blocks: 10,
        ..engine()
    }))
    .unwrap();
    let mut refused = |at, request: Request, part: &str| {
        let text = cluster.submit(at, request).unwrap_err().to_string();
        assert!(text.contains(part), "{text:?} lacks {part:?}");
    };
    refused(
        ms(0),
        Request::new(1, 0, 5),
        "request 1 has 0 tokens of prompt and 5 of output",
    );
    refused(ms(0), Request::new(1, 5, 0), "give 1 or more of both");
    // 160 tokens fit, and the last one needs no room.
    refused(
        ms(0),
        Request::new(1, 160, 2),
        "needs 11 blocks at its end, and an engine has 10",
    );
    refused(ms(0), Request::new(1, u32::MAX, u32::MAX), "shorten it");
    cluster.submit(ms(10), Request::new(1, 160, 1)).unwrap();
    assert_eq!(
        cluster.submit(ms(10), Request::new(1, 1, 1)),
        Err(Refused::Duplicate { id: 1 })
    );
    assert_eq!(
        cluster.submit(ms(9), Request::new(2, 1, 1)),
        Err(Refused::Past { id: 2 })
    );
    let outcome = cluster.run([
        (ms(20), Request::new(3, 0, 1)),
        (ms(30), Request::new(4, 1, 1)),
    ]);
    assert_eq!((outcome.completions.len(), outcome.refused.len()), (2, 1));
}

#[test]
fn configurations_that_cannot_be_are_refused_by_name() {
    let refused = |config: EngineConfig, part: &str| {
        let text = Cluster::new(single(config)).unwrap_err().to_string();
        assert!(text.contains(part), "{text:?} lacks {part:?}");
    };
    refused(
        EngineConfig {
            blocks: 0,
            ..engine()
        },
        "the number of blocks is 0",
    );
    refused(
        EngineConfig {
            max_step_tokens: 100,
            ..engine()
        },
        "the most tokens in a step is 100",
    );
    let cost = StepCost {
        per_sequence: -1.0,
        ..PLAIN
    };
    refused(
        EngineConfig { cost, ..engine() },
        "the cost of a sequence is -1",
    );
}
