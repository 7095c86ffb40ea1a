//! The shares that caches hit: the formulas against caches that are simulated, and recorded traces.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::collections::{HashMap, HashSet};

use openloop_workload::prompts::{
    Achieved, Cache, Conversations, Level, Nonce, PrefixTree, Prompt, Prompts, PromptsError,
    TracePrompts, Usage, Vocabulary,
};
use openloop_workload::traces::{Format, Trace};
use proptest::prelude::*;

fn prompts(tree: PrefixTree) -> Prompts {
    let user = "lognormal:mean=60,cv=1,max=1000".parse().unwrap();
    Prompts::new(user, "fixed:1".parse().unwrap())
        .unwrap()
        .prefixes(tree)
}

fn tree(levels: &[(u64, u32)], skew: f64) -> PrefixTree {
    let level = |&(nodes, tokens): &(u64, u32)| Level { nodes, tokens };
    PrefixTree::new(&levels.iter().map(level).collect::<Vec<_>>(), skew).unwrap()
}

/// A server's prefix cache: whole blocks of tokens, each known by itself and all before it.
#[derive(Default)]
struct Server {
    blocks: HashSet<u64>,
    hits: u64,
    input: u64,
}

impl Server {
    fn hashes(prompt: &Prompt, block: usize) -> Vec<u64> {
        let ids = prompt.token_ids(Vocabulary::new(0..50_000).unwrap());
        let mut hash = 0_u64;
        let chained = ids.chunks_exact(block).map(|block| {
            for &id in block {
                hash = (hash ^ u64::from(id))
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(29);
            }
            hash
        });
        chained.collect()
    }

    /// Answers a prompt, and keeps it if `keep`.
    fn answer(&mut self, prompt: &Prompt, block: usize, keep: bool) -> u64 {
        let hashes = Self::hashes(prompt, block);
        let known = hashes.iter().take_while(|hash| self.blocks.contains(*hash));
        let hits = (known.count() * block) as u64;
        self.hits += hits;
        self.input += prompt.input_tokens();
        if keep {
            self.blocks.extend(hashes);
        }
        hits
    }

    fn share(&self) -> f64 {
        self.hits as f64 / self.input as f64
    }
}

#[test]
fn a_warm_cache_hits_what_the_formula_says() {
    for (levels, skew, kept, block) in [
        (&[(20, 64)][..], 1.0, None, 16),
        (&[(20, 64)], 1.0, Some(5), 16),
        (&[(20, 70)], 0.0, Some(5), 16),
        (&[(3, 40), (4, 25), (5, 31)], 0.9, Some(7), 16),
        (&[(3, 40), (4, 25), (5, 31)], 0.9, Some(1), 1),
        (&[(3, 40), (4, 25), (5, 31)], 1.2, None, 32),
        (&[(3, 40), (4, 25), (5, 31)], 1.2, Some(0), 32),
        (&[(3, 40), (4, 5)], 1.0, Some(11), 32),
    ] {
        let tree = tree(levels, skew);
        let prompts = prompts(tree.clone());
        // Filled with the prefixes it keeps, each from some request that has it.
        let mut server = Server::default();
        let kept_prefixes = kept.unwrap_or(u64::MAX);
        let mut by_prefix = HashMap::new();
        for seq in 0..200_000 {
            by_prefix.entry(tree.prefix(5, seq)).or_insert(seq);
        }
        assert_eq!(by_prefix.len() as u64, tree.prefixes());
        for (&prefix, &seq) in &by_prefix {
            if prefix <= kept_prefixes {
                server.answer(&prompts.prompt(5, seq), block, true);
            }
        }
        (server.hits, server.input) = (0, 0);
        // Other requests, whose own text is not known.
        for seq in 1_000_000..1_020_000 {
            server.answer(&prompts.prompt(5, seq), block, false);
        }
        let told = prompts.hit_share(Cache {
            prefixes: kept,
            block: block as u32,
        });
        let found = server.share();
        assert!(
            (found - told).abs() < 0.01,
            "{levels:?} {kept:?}: {found}, told {told}"
        );
    }
}

#[test]
fn a_cold_run_hits_what_the_formula_says() {
    for (levels, skew, requests, block) in [
        (&[(200, 64)][..], 0.8, 300_u64, 16),
        (&[(10, 48), (40, 32)], 1.1, 1_000, 16),
        (&[(1, 48)], 1.1, 10, 1),
    ] {
        let prompts = prompts(tree(levels, skew));
        let told = prompts.cold_hit_share(requests, block).unwrap();
        // The mean over runs, each with a nonce of its own and requests of its own.
        let runs = 40;
        let (mut hits, mut input) = (0, 0);
        for run in 0..runs {
            let mut server = Server::default();
            let prompts = prompts.clone().nonce(Nonce::Run(run));
            for seq in 0..requests {
                server.answer(&prompts.prompt(run, seq), block as usize, true);
            }
            (hits, input) = (hits + server.hits, input + server.input);
        }
        let found = hits as f64 / input as f64;
        assert!(
            (found - told).abs() < 0.01,
            "{levels:?}: {found}, told {told}"
        );
    }
    let large = prompts(tree(&[(1 << 21, 64)], 1.0));
    assert_eq!(large.cold_hit_share(10, 16), None);
    assert_eq!(prompts(tree(&[(2, 64)], 1.0)).cold_hit_share(0, 16), None);
}

#[test]
fn one_run_finds_nothing_that_another_left() {
    let prompts = prompts(tree(&[(20, 64)], 1.0));
    let mut server = Server::default();
    for run in 0..5 {
        let before = server.hits;
        let prompts = prompts.clone().nonce(Nonce::Run(run));
        let mut alone = Server::default();
        for seq in 0..500 {
            server.answer(&prompts.prompt(1, seq), 16, true);
            alone.answer(&prompts.prompt(1, seq), 16, true);
        }
        assert_eq!(server.hits - before, alone.hits);
    }
    // Of the seed alone, the second run finds all of the first.
    let mut server = Server::default();
    for _ in 0..2 {
        (server.hits, server.input) = (0, 0);
        for seq in 0..500 {
            server.answer(&prompts.prompt(1, seq), 16, true);
        }
    }
    assert!(server.share() > 0.85, "{}", server.share());
}

#[test]
fn the_wanted_share_is_met_to_half_a_block() {
    let user = || "lognormal:mean=500,cv=1,max=8192".parse().unwrap();
    for wanted in [0.0, 0.1, 0.5, 0.75, 0.9, 0.99] {
        for (kept, block) in [(None, 16), (None, 1), (Some(200), 16)] {
            let cache = Cache {
                prefixes: kept,
                block,
            };
            let made = Prompts::with_hit_share(
                wanted,
                cache,
                1000,
                1.0,
                user(),
                "fixed:1".parse().unwrap(),
            );
            if kept.is_some() && wanted > 0.78 {
                // F(200) = H(200)/H(1000), less the share of the unshared text beside 2²⁴ tokens.
                let harmonic = |n: u32| (1..=n).map(|k| 1.0 / f64::from(k)).sum::<f64>();
                let expected = harmonic(200) / harmonic(1000);
                let Err(PromptsError::HitShare { most, .. }) = made else {
                    unreachable!()
                };
                assert!((most - expected).abs() < 1e-4, "{most}");
                continue;
            }
            let prompts = made.unwrap();
            let found = prompts.hit_share(cache);
            // The derivative of P/(P + U) is below 1/U.
            let tolerance = f64::from(block) / 2.0 / 500.0 + 1e-12;
            assert!((found - wanted).abs() <= tolerance, "{found} for {wanted}");
        }
    }
    for wanted in [-0.1, 1.0, 1.5, f64::NAN] {
        let made = Prompts::with_hit_share(wanted, Cache::ENDLESS, 10, 1.0, user(), user());
        assert!(
            matches!(made, Err(PromptsError::HitShare { .. })),
            "{wanted}"
        );
    }
}

#[test]
fn conversations_hit_what_the_formula_says() {
    let law = |text: &str| text.parse().unwrap();
    let talk = Conversations::new(law("exponential:60"), law("exponential:90")).unwrap();
    let talk = talk.prefixes(tree(&[(4, 100)], 1.0));
    for turns in [1, 2, 7] {
        let mut server = Server::default();
        for session in 0..3_000 {
            // The prefixes are warm after the first sessions.
            if session == 100 {
                (server.hits, server.input) = (0, 0);
            }
            for turn in 0..turns {
                server.answer(&talk.turn(2, session, turn).unwrap(), 1, true);
            }
        }
        let (found, told) = (server.share(), talk.hit_share(turns));
        assert!((found - told).abs() < 0.01, "{turns}: {found}, told {told}");
        let more = talk.hit_share_with_real_answers(turns);
        assert!(more >= told && more < 1.0);
    }
    let input: f64 = (0..7).map(|turn| talk.mean_input_tokens(turn)).sum();
    let hits: f64 = 100.0 + (0..6).map(|turn| talk.mean_input_tokens(turn)).sum::<f64>();
    assert!((talk.hit_share(7) - hits / input).abs() < 1e-12);
    assert_eq!(talk.hit_share(0), 0.0);
}

fn traced(name: &str) -> Trace {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    Trace::read(&std::fs::read(path).unwrap()[..]).unwrap()
}

#[test]
fn prompts_of_a_trace_repeat_what_the_trace_repeats() {
    for (name, format) in [
        ("mooncake.jsonl", Format::Mooncake),
        ("bailian.jsonl", Format::Bailian),
    ] {
        let trace = traced(name);
        let block = format.block_tokens().unwrap() as usize;
        let told = trace.describe().repeated_input.unwrap();
        let prompts = TracePrompts::new(trace, Nonce::Run(3)).unwrap();
        let mut server = Server::default();
        for seq in 0..prompts.len() as u64 {
            let prompt = prompts.prompt(1, seq).unwrap();
            let row = &prompts.trace().requests()[seq as usize];
            assert_eq!(Some(prompt.input_tokens()), row.input_tokens);
            assert_eq!(Some(u64::from(prompt.output_tokens)), row.output_tokens);
            let hits = server.answer(&prompt, block, true);
            assert_eq!(hits, u64::from(prompt.shared_tokens));
        }
        assert!((server.share() - told).abs() < 1e-12 && told > 0.0);
        assert!((prompts.hit_share() - told).abs() < 1e-12);
        assert_eq!(prompts.prompt(1, prompts.len() as u64), None);
    }
}

#[test]
fn prompts_of_a_trace_without_blocks_share_nothing() {
    let trace = traced("burstgpt.csv").without_empty_output();
    let prompts = TracePrompts::new(trace, Nonce::None).unwrap();
    assert_eq!((prompts.len(), prompts.hit_share()), (3, 0.0));
    let lengths = [906, 36, 1391];
    for (seq, length) in (0..).zip(lengths) {
        let prompt = prompts.prompt(1, seq).unwrap();
        assert_eq!((prompt.input_tokens(), prompt.shared_tokens), (length, 0));
    }
}

#[test]
fn rows_that_are_no_prompts_are_refused_with_their_line() {
    let problem = |trace: Trace| {
        let error = TracePrompts::new(trace, Nonce::None).unwrap_err();
        let PromptsError::Request { line, problem, .. } = error else {
            unreachable!()
        };
        (line, problem)
    };
    assert_eq!(problem(traced("azure.csv")), (5, "an answer of 0 tokens"));
    assert_eq!(problem(traced("plain.csv")), (3, "no input length"));
    let row = |input: u64, ids: &str| {
        format!(r#"{{"timestamp":0,"input_length":{input},"output_length":1,"hash_ids":{ids}}}"#)
    };
    let read = |row: String| Trace::read(row.as_bytes()).unwrap();
    assert_eq!(problem(read(row(0, "[]"))), (1, "an input of 0 tokens"));
    assert_eq!(
        problem(read(row(512, "[1,2]"))),
        (1, "more hash ids than its input has blocks")
    );
    assert_eq!(
        problem(read(row(1 << 25, "[]"))),
        (1, "more than 16777216 tokens")
    );
    // Blocks of another length than the format's.
    let trace = read(row(40, "[1,2,3]"));
    let prompts = TracePrompts::with_blocks(trace, 16, Nonce::None).unwrap();
    let prompt = prompts.prompt(1, 0).unwrap();
    let parts: Vec<_> = prompt.segments.iter().map(|part| part.tokens).collect();
    assert_eq!(parts, [16, 16, 8]);
    // Fewer ids than blocks: the rest is the request's own.
    let prompts = TracePrompts::new(read(row(2000, "[1]")), Nonce::None).unwrap();
    let parts: Vec<_> = prompts
        .prompt(1, 0)
        .unwrap()
        .segments
        .iter()
        .map(|part| part.tokens)
        .collect();
    assert_eq!(parts, [512, 1488]);
}

#[test]
fn achieved_lengths_stand_beside_those_asked_for() {
    let prompts = prompts(tree(&[(1, 40)], 1.0));
    let (mut one, mut other) = (Achieved::default(), Achieved::default());
    let mut input = 0;
    for seq in 0..100 {
        let prompt = prompts.prompt(1, seq);
        let tokens = prompt.input_tokens();
        input += tokens;
        let half = if seq % 2 == 0 { &mut one } else { &mut other };
        // Every fourth answer tells nothing.
        half.record(
            &prompt,
            match seq % 4 {
                3 => Usage::default(),
                _ => Usage {
                    input_tokens: Some(tokens + seq % 2),
                    output_tokens: Some(1),
                    cached_tokens: Some(32),
                },
            },
        );
    }
    one.merge(&other);
    let told = one.summary();
    assert_eq!(told.requests, 100);
    let (asked, answers) = (told.input.unwrap(), told.output.unwrap());
    assert_eq!((asked.asked.count, asked.as_asked), (75, 50));
    assert_eq!(asked.achieved.total - asked.asked.total, 25);
    assert_eq!((answers.ratio, answers.as_asked), (1.0, 75));
    let cached = told.cached.unwrap();
    assert_eq!(cached.requests, 75);
    assert!((cached.cached - 75.0 * 32.0 / asked.achieved.total as f64).abs() < 1e-15);
    assert!((cached.shared - 75.0 * 40.0 / asked.asked.total as f64).abs() < 1e-15);
    assert!(asked.asked.total < u128::from(input));
    let empty = Achieved::default().summary();
    assert_eq!(
        (empty.input, empty.output, empty.cached),
        (None, None, None)
    );
    let json = serde_json::to_value(told).unwrap();
    assert_eq!(json["input"]["as_asked"], 50);
    assert_eq!(json["cached"]["requests"], 75);
}

proptest! {
    #[test]
    fn a_larger_cache_never_hits_less_and_none_more_than_there_is(
        levels in prop::collection::vec((1_u64..15, 1_u32..100), 1..4),
        skew in 0.0..3.0_f64,
        block in 0_u32..64,
        requests in 1_u64..10_000,
    ) {
        let tree = tree(&levels, skew);
        let endless = tree.hits(Cache { prefixes: None, block });
        let mut before = 0.0;
        for kept in [0, 1, 2, 5, 50, 1000, u64::MAX] {
            let hits = tree.hits(Cache { prefixes: Some(kept), block });
            prop_assert!(hits >= before && hits <= endless + 1e-9, "{kept}: {hits} after {before}");
            before = hits;
        }
        prop_assert!((before - endless).abs() < 1e-9);
        prop_assert!(endless <= f64::from(tree.tokens()));
        let cold = tree.cold_hits(requests, block).unwrap();
        prop_assert!((-1e-9..=endless).contains(&cold), "{cold} of {endless}");
        prop_assert!(cold <= tree.cold_hits(2 * requests, block).unwrap() + 1e-9);
    }
}
