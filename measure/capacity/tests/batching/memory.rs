//! Blocks, prefixes and preemption.

use crate::{arrivals, by_id, engine, ms, rng, simulate, uniform};
use openloop_capacity::batching::{ClusterConfig, EngineConfig, Prefill, Request};
use std::time::Duration;

/// Requests one after the other, 10 s apart.
fn one_after_the_other(requests: impl IntoIterator<Item = Request>) -> Vec<(Duration, Request)> {
    requests
        .into_iter()
        .zip(0..)
        .map(|(request, i)| (Duration::from_secs(10 * i), request))
        .collect()
}

/// `prefix` blocks that all of `group` share, and 20 tokens of its own.
fn grouped(id: u64, group: u64, prefix: u32) -> Request {
    let hashes = (0..u64::from(prefix))
        .map(|block| 1000 * group + block)
        .collect();
    Request::new(id, 16 * prefix + 20, 4).with_block_hashes(hashes)
}

#[test]
fn the_first_of_a_group_computes_its_prefix_and_the_others_find_it() {
    let requests = one_after_the_other((0..40).map(|id| grouped(id, id % 4, 6)));
    let outcome = simulate(ClusterConfig::single(engine()), &requests);
    for done in by_id(&outcome) {
        let (cached, computed) = if done.id < 4 { (0, 116) } else { (6, 20) };
        assert_eq!(done.cached_blocks, cached);
        assert_eq!(done.time_to_first_token, ms(10 + computed));
    }
    let engine = outcome.engines[0];
    assert_eq!(
        (
            engine.looked_up_blocks,
            engine.found_blocks,
            engine.cached_blocks
        ),
        (240, 36 * 6, 24)
    );
    let without = EngineConfig {
        prefix_cache: false,
        ..crate::engine()
    };
    let outcome = simulate(ClusterConfig::single(without), &requests);
    assert_eq!(
        (
            outcome.engines[0].looked_up_blocks,
            outcome.engines[0].cached_blocks
        ),
        (0, 0)
    );
    assert!(
        outcome
            .completions
            .iter()
            .all(|done| done.time_to_first_token == ms(126))
    );
}

#[test]
fn the_last_token_of_a_prompt_is_computed_in_any_case() {
    // Both prompts are the same 4 full blocks, of which 3 can be used.
    let same = |id| Request::new(id, 64, 1).with_block_hashes(vec![1, 2, 3, 4]);
    let outcome = simulate(
        ClusterConfig::single(engine()),
        &one_after_the_other([same(1), same(2)]),
    );
    let all = by_id(&outcome);
    assert_eq!(
        (all[1].cached_blocks, all[1].time_to_first_token),
        (3, ms(26))
    );
}

#[test]
fn a_conversation_finds_what_was_answered_before() {
    // 20 tokens of prompt and 30 of answer fill 3 blocks, since nothing is kept for the last token.
    let first = Request::new(1, 20, 30).with_block_hashes(vec![1, 2, 3]);
    let second = Request::new(2, 70, 1).with_block_hashes(vec![1, 2, 3, 4]);
    let outcome = simulate(
        ClusterConfig::single(engine()),
        &one_after_the_other([first, second]),
    );
    assert_eq!(by_id(&outcome)[1].cached_blocks, 3);
}

#[test]
fn prefixes_in_turn_find_what_there_was_room_for() {
    let found = |blocks, groups| {
        let requests = one_after_the_other((0..40).map(|id| grouped(id, id % groups, 6)));
        let config = EngineConfig {
            blocks,
            max_sequences: 8,
            ..engine()
        };
        simulate(ClusterConfig::single(config), &requests).engines[0].found_blocks
    };
    // Each needs 6 blocks for its prefix and 2 for the rest. With room for all, each finds all of it.
    assert_eq!(found(4 * 6 + 2, 4), 36 * 6);
    // With one block less, each has lost the end of its prefix: that of the one whose turn it is next goes first.
    assert_eq!(found(4 * 6 + 1, 4), 36 * 5);
    // With room for one alone, none is left when it is its turn again.
    assert_eq!((found(8, 4), found(8, 2), found(8, 1)), (0, 0, 39 * 6));
}

#[test]
fn hits_are_those_of_a_least_recently_used_cache() {
    // One at a time, groups at random: an independent list of the last used prefixes says who hits.
    let mut rng = rng(4);
    let groups: Vec<u64> = (0..500)
        .map(|_| (12.0 * uniform(&mut rng).powi(2)) as u64)
        .collect();
    let requests = one_after_the_other(
        groups
            .iter()
            .zip(0..)
            .map(|(group, id)| grouped(id, *group, 5)),
    );
    // The blocks of its own part, 2 with the answer, are freed before the prefix, and cached by nobody.
    let config = EngineConfig {
        blocks: 5 * 5 + 2,
        max_sequences: 8,
        ..engine()
    };
    let outcome = simulate(ClusterConfig::single(config), &requests);
    let mut recent: Vec<u64> = Vec::new();
    for (done, group) in by_id(&outcome).iter().zip(&groups) {
        let hit = recent.iter().position(|one| one == group);
        assert_eq!(
            done.cached_blocks,
            if hit.is_some() { 5 } else { 0 },
            "request {}",
            done.id
        );
        if let Some(at) = hit {
            recent.remove(at);
        }
        recent.insert(0, *group);
        recent.truncate(5);
    }
}

/// Poisson arrivals of prompts of 100 to 300 and answers of 50 to 150 tokens.
fn load(seed: u64) -> Vec<(Duration, Request)> {
    let mut rng = rng(seed);
    arrivals(&mut rng, 8.0, 400)
        .into_iter()
        .zip(0..)
        .map(|(at, id)| {
            let [prompt, output] = [(); 2].map(|()| uniform(&mut rng));
            (
                at,
                Request::new(
                    id,
                    100 + (200.0 * prompt) as u32,
                    50 + (100.0 * output) as u32,
                ),
            )
        })
        .collect()
}

#[test]
fn preemption_appears_when_blocks_run_out_and_not_before() {
    // No sequence is longer than 450 tokens, which are 29 blocks.
    for prefill in [Prefill::Chunked, Prefill::Whole] {
        let run = |blocks| {
            let config = EngineConfig {
                blocks,
                max_sequences: 20,
                max_step_tokens: 512,
                prefill,
                ..engine()
            };
            simulate(ClusterConfig::single(config), &load(5))
        };
        let enough = run(20 * 29);
        assert_eq!(enough.engines[0].preemptions, 0);
        assert!(enough.completions.iter().all(|done| done.preemptions == 0));
        let short = run(200);
        let preempted: u64 = short
            .completions
            .iter()
            .map(|done| u64::from(done.preemptions))
            .sum();
        assert!(preempted > 0 && preempted == short.engines[0].preemptions);
        // A sequence goes where another finds not one block more.
        assert_eq!(short.engines[0].most_used_blocks, 200);
        assert_eq!(short.completions.len(), 400);
        // What is computed twice takes time.
        assert!(short.elapsed > enough.elapsed && short.engines[0].busy > enough.engines[0].busy);
    }
}

#[test]
fn who_came_last_is_preempted_and_starts_again() {
    // Both fit with 64 tokens, and not with 65: the second has to go, and comes back when the first is done.
    let config = EngineConfig {
        blocks: 8,
        max_sequences: 4,
        prefix_cache: false,
        ..engine()
    };
    let requests = [
        (ms(0), Request::new(1, 60, 11)),
        (ms(0), Request::new(2, 60, 11)),
    ];
    let outcome = simulate(ClusterConfig::single(config), &requests);
    let all = by_id(&outcome);
    assert_eq!((all[0].preemptions, all[1].preemptions), (0, 1));
    // 130 ms for both prompts, then 10 ms a token.
    assert_eq!(all[0].end_to_end, ms(130 + 100));
    // Five tokens were known; with the prompt they are computed again, which gives the sixth.
    assert_eq!(all[1].end_to_end, ms(230 + 10 + 65 + 5 * 10));
    assert_eq!(all[1].longest_gap, ms(230 - 170 + 75));
}

#[test]
fn a_sequence_that_starts_again_finds_its_prefix() {
    let config = EngineConfig {
        blocks: 8,
        max_sequences: 4,
        ..engine()
    };
    let hashes = |id: u64| (0..4).map(|block| 100 * id + block).collect();
    let requests = [1, 2].map(|id| {
        (
            ms(0),
            Request::new(id, 60, 11).with_block_hashes(hashes(id)),
        )
    });
    let outcome = simulate(ClusterConfig::single(config), &requests);
    let all = by_id(&outcome);
    assert_eq!(all[1].preemptions, 1);
    // Its 64 computed tokens were in 4 full blocks, of which the first sequence took one more: the last, by the order in
    // which they were freed. 48 of 65 tokens are there.
    assert_eq!(all[1].end_to_end, ms(230 + 10 + 17 + 5 * 10));
    // The hits of a second start are not those of the first.
    assert_eq!(all[1].cached_blocks, 0);
}

#[test]
fn the_mean_of_used_blocks_is_that_of_littles_law() {
    let config = EngineConfig {
        block_tokens: 1000,
        ..engine()
    };
    let outcome = simulate(ClusterConfig::single(config), &load(6));
    // One block each, from its first step to its end.
    let held: f64 = outcome
        .completions
        .iter()
        .map(|done| (done.end_to_end - done.queue_wait).as_secs_f64())
        .sum();
    let found = outcome.engines[0].mean_used_blocks.unwrap() * outcome.elapsed.as_secs_f64();
    assert!((found / held - 1.0).abs() < 1e-9, "{found}, not {held}");
}
