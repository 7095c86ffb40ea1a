//! What holds at every step, whatever is asked and however little room there is.

use openloop_capacity::batching::{
    Cluster, ClusterConfig, EngineConfig, EventKind, Layout, Prefill, Refused, Request, Routing,
    StepCost, Transfer,
};
use proptest::prelude::*;
use std::collections::HashMap;
use std::time::Duration;

/// A request, and when its client gives it up, if it does.
#[derive(Clone, Debug)]
struct Asked {
    after_us: u64,
    prompt: u32,
    output: u32,
    /// Those of one group begin alike.
    group: u64,
    alike: u32,
    gives_up_after_us: Option<u64>,
}

fn asked() -> impl Strategy<Value = Asked> {
    let length = prop_oneof![3 => 1_u32..40, 1 => 40_u32..400];
    let gives_up = prop_oneof![3 => Just(None), 1 => (0_u64..60_000).prop_map(Some)];
    (
        0_u64..4000,
        length.clone(),
        length,
        0_u64..4,
        0_u32..6,
        gives_up,
    )
        .prop_map(
            |(after_us, prompt, output, group, alike, gives_up_after_us)| Asked {
                after_us,
                prompt,
                output,
                group,
                alike,
                gives_up_after_us,
            },
        )
}

fn engine() -> impl Strategy<Value = EngineConfig> {
    let cost = prop_oneof![
        Just(StepCost::default()),
        Just(StepCost {
            base: 1e-3,
            per_prompt_token: 50e-6,
            per_sequence: 20e-6,
            per_context_token: 1e-7,
        }),
    ];
    (
        1_u32..40,
        prop_oneof![Just(1_u32), Just(4), Just(16)],
        1_u32..8,
        0_u32..64,
        any::<bool>(),
        any::<bool>(),
        cost,
    )
        .prop_map(
            |(blocks, block_tokens, max_sequences, more, whole, prefix_cache, cost)| EngineConfig {
                blocks,
                block_tokens,
                max_sequences,
                max_step_tokens: max_sequences + more,
                prefill: match whole {
                    true => Prefill::Whole,
                    false => Prefill::Chunked,
                },
                prefix_cache,
                cost,
            },
        )
}

fn cluster() -> impl Strategy<Value = ClusterConfig> {
    let layout = prop_oneof![
        (1_u32..4).prop_map(|engines| Layout::Mixed { engines }),
        (1_u32..3, 1_u32..3, 0_u32..3000, 0_u32..300).prop_map(
            |(prefill, decode, latency_us, block_us)| Layout::Disaggregated {
                prefill,
                decode,
                transfer: Transfer {
                    latency: f64::from(latency_us) / 1e6,
                    per_block: f64::from(block_us) / 1e6,
                },
            }
        ),
    ];
    let routing = prop_oneof![
        Just(Routing::RoundRobin),
        Just(Routing::LeastLoaded),
        Just(Routing::PrefixAware { most_ahead: None }),
        Just(Routing::PrefixAware {
            most_ahead: Some(2)
        }),
    ];
    (engine(), layout, routing).prop_map(|(engine, layout, routing)| ClusterConfig {
        engine,
        layout,
        routing,
    })
}

/// What has become of each request that was taken.
#[derive(Debug, Default)]
struct Books {
    under_way: HashMap<u64, UnderWay>,
    taken: u64,
    finished: u64,
    given_up: u64,
    preemptions: u64,
}

#[derive(Debug)]
struct UnderWay {
    prompt: u32,
    output: u32,
    tokens: u32,
    preemptions: u32,
}

impl Books {
    /// Lets time go on by one instant at most, and looks at everything then.
    fn advance(&mut self, cluster: &mut Cluster, to: Duration) {
        for event in cluster.advance(to) {
            let told = self.under_way.get_mut(&event.id);
            let one = told.unwrap();
            match event.kind {
                EventKind::Admitted { cached_blocks, .. } => {
                    assert!(
                        cached_blocks <= one.prompt + one.tokens,
                        "a block has a token at least"
                    );
                }
                EventKind::Token { number } => {
                    assert_eq!(number, one.tokens, "each token once, and in order");
                    one.tokens += 1;
                    assert!(one.tokens <= one.output);
                }
                EventKind::Preempted => {
                    one.preemptions += 1;
                    self.preemptions += 1;
                }
                EventKind::Finished(done) => {
                    assert_eq!(one.tokens, one.output, "as many tokens as were asked for");
                    assert_eq!(
                        (done.prompt_tokens, done.output_tokens, done.preemptions),
                        (one.prompt, one.output, one.preemptions)
                    );
                    self.under_way.remove(&event.id);
                    self.finished += 1;
                }
                _ => {}
            }
        }
        self.look(cluster);
    }

    /// Of engines as they are at this instant.
    fn look(&self, cluster: &Cluster) {
        let engines = cluster.engines();
        for engine in &engines {
            assert!(engine.used_blocks <= engine.blocks, "{engine:?}");
            assert!(engine.most_used_blocks <= engine.blocks, "{engine:?}");
            assert!(engine.cached_blocks <= engine.blocks, "{engine:?}");
            assert!(engine.found_blocks <= engine.looked_up_blocks, "{engine:?}");
            // A sequence in the batch has a block at least, and none has one that is not in it or on its way.
            assert!(engine.running as u32 <= engine.used_blocks, "{engine:?}");
        }
        let inside: usize = engines.iter().map(|one| one.running + one.waiting).sum();
        assert!(inside <= self.under_way.len());
        let preemptions: u64 = engines.iter().map(|one| one.preemptions).sum();
        assert_eq!(preemptions, self.preemptions);
        assert_eq!(
            self.taken,
            self.finished + self.given_up + self.under_way.len() as u64
        );
    }
}

/// Serves all of it, event by event.
fn serve(config: ClusterConfig, all: &[Asked]) -> Books {
    let mut cluster = Cluster::new(config).unwrap();
    let mut books = Books::default();
    // What comes from outside, by its instant: a request, or that its client has gone.
    let mut at_us = 0;
    let mut agenda = Vec::new();
    for (id, one) in (0..).zip(all) {
        at_us += one.after_us;
        agenda.push((at_us, id, Some(one)));
        if let Some(after) = one.gives_up_after_us {
            agenda.push((at_us + after, id, None));
        }
    }
    agenda.sort_by_key(|(at, id, what)| (*at, *id, what.is_none()));
    let mut agenda = agenda.into_iter().peekable();
    let mut events = 0;
    loop {
        events += 1;
        assert!(events < 200_000, "it goes on for ever: {books:?}");
        let outside = agenda.peek().map(|(at, ..)| Duration::from_micros(*at));
        match (cluster.next_event(), outside) {
            (Some(at), outside) if outside.is_none_or(|outside| at <= outside) => {
                books.advance(&mut cluster, at);
            }
            (_, Some(at)) => {
                let (_, id, what) = agenda.next().unwrap();
                // What happens until then belongs to what was before.
                books.advance(&mut cluster, at);
                match what {
                    Some(one) => submit(&mut cluster, &mut books, at, id, one, config),
                    None => {
                        let was_there = books.under_way.remove(&id).is_some();
                        assert_eq!(cluster.cancel(at, id), was_there);
                        books.given_up += u64::from(was_there);
                    }
                }
            }
            (_, None) => break,
        }
    }
    for engine in cluster.engines() {
        assert_eq!(
            (engine.running, engine.waiting, engine.used_blocks),
            (0, 0, 0)
        );
    }
    assert!(books.under_way.is_empty(), "{books:?}");
    books
}

fn submit(
    cluster: &mut Cluster,
    books: &mut Books,
    at: Duration,
    id: u64,
    one: &Asked,
    config: ClusterConfig,
) {
    let blocks = u64::from((one.prompt + one.output) / config.engine.block_tokens);
    let alike = u64::from(one.alike);
    let hash = |block: u64| match block < alike {
        true => 1_000 * one.group + block,
        false => 1_000_000 * (id + 1) + block,
    };
    let request =
        Request::new(id, one.prompt, one.output).with_block_hashes((0..blocks).map(hash).collect());
    let longest = one.prompt + one.output - 1;
    let fits = longest.div_ceil(config.engine.block_tokens) <= config.engine.blocks;
    match cluster.submit(at, request) {
        Ok(()) => {
            assert!(fits);
            books.taken += 1;
            books.under_way.insert(
                id,
                UnderWay {
                    prompt: one.prompt,
                    output: one.output,
                    tokens: 0,
                    preemptions: 0,
                },
            );
        }
        Err(Refused::TooLong { .. }) => assert!(!fits),
        Err(other) => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// With preemption, a prefix cache, clients that go away, and prefill and decode apart or not.
    #[test]
    fn the_pool_is_never_overrun_and_nothing_is_lost(
        config in cluster(),
        all in prop::collection::vec(asked(), 1..40),
    ) {
        serve(config, &all);
    }
}

/// That what the property speaks of does happen.
#[test]
fn the_property_is_tried_where_room_runs_out() {
    let engine = EngineConfig {
        blocks: 12,
        block_tokens: 4,
        max_sequences: 6,
        max_step_tokens: 32,
        cost: StepCost {
            base: 1e-3,
            ..StepCost::default()
        },
        ..EngineConfig::default()
    };
    let one = |at: u64| Asked {
        after_us: 500,
        prompt: 12,
        output: 20,
        group: at % 2,
        alike: 2,
        gives_up_after_us: at.is_multiple_of(5).then_some(9_000),
    };
    let all: Vec<_> = (0..40).map(one).collect();
    for layout in [
        Layout::Mixed { engines: 1 },
        Layout::Disaggregated {
            prefill: 1,
            decode: 1,
            transfer: Transfer::default(),
        },
    ] {
        let books = serve(
            ClusterConfig {
                layout,
                ..ClusterConfig::single(engine)
            },
            &all,
        );
        assert!(books.preemptions > 0 && books.given_up > 0, "{books:?}");
        assert!(books.finished >= 32, "{books:?}");
    }
}
