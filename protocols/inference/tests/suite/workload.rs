//! What was asked for, and what the server says of it: prefixes, lengths, goodput, memory.

use crate::{client, ms, prompts, recorder};
use openloop_inference::{Api, Engine, Inference, Observed};
use openloop_measurer::Operation;
use openloop_testbed::batching::{ClusterConfig, EngineConfig, StepCost};
use openloop_testbed::{LlmServer, Script};
use openloop_workload::prompts::{Cache, Nonce, PrefixTree, Prompts};
use tokio::time::Instant;

/// Quick steps: the whole suite waits for them.
fn engine() -> EngineConfig {
    EngineConfig {
        cost: StepCost {
            base: 200e-6,
            per_prompt_token: 1e-6,
            ..StepCost::default()
        },
        ..EngineConfig::default()
    }
}

/// `count` requests of these prompts, from `from` on, sixteen at a time.
async fn send(client: &Inference, prompts: &Prompts, from: u64, count: u64) {
    for batch in (from..from + count).collect::<Vec<_>>().chunks(16) {
        let mut running = tokio::task::JoinSet::new();
        for seq in batch {
            let request = client.request(prompts.prompt(7, *seq)).unwrap();
            let client = client.clone();
            running.spawn(async move { client.call(request).await.map(drop) });
        }
        for done in running.join_all().await {
            done.unwrap();
        }
    }
}

#[tokio::test]
async fn the_hit_rate_that_prompts_promise_is_the_one_that_metrics_show() {
    let server = LlmServer::simulated(ClusterConfig::single(engine()))
        .start()
        .unwrap();
    let cache = Cache {
        prefixes: None,
        block: 16,
    };
    for (wanted, nonce, api) in [(0.4, 1, Api::Text), (0.75, 2, Api::Chat)] {
        let prompts = Prompts::with_hit_share(
            wanted,
            cache,
            4,
            1.0,
            "fixed:100".parse().unwrap(),
            "fixed:2".parse().unwrap(),
        )
        .unwrap()
        .nonce(Nonce::Run(nonce));
        let client = Inference::builder(&server.url(), "testbed")
            .api(api)
            .build()
            .unwrap();
        // Until every prefix has come once.
        send(&client, &prompts, 0, 64).await;
        let before = Observed::parse(&server.metrics());
        send(&client, &prompts, 64, 256).await;
        let after = Observed::parse(&server.metrics());
        assert_eq!(after.engine, Some(Engine::Vllm));
        let shown = after.prefix_hit_rate_since(&before).unwrap();
        let promised = prompts.hit_share(cache);
        assert!((shown - promised).abs() < 0.01, "{shown} for {promised}");
        // What each answer's usage says adds up to the same.
        let cached = client.totals().achieved().cached.unwrap();
        assert!(
            cached.cached <= cached.shared && cached.cached > 0.8 * cached.shared,
            "{cached:?}"
        );
    }
}

#[tokio::test]
async fn the_pool_is_never_overrun_and_what_ran_out_is_seen() {
    let small = EngineConfig {
        blocks: 40,
        max_sequences: 32,
        ..engine()
    };
    let server = LlmServer::simulated(ClusterConfig::single(small))
        .start()
        .unwrap();
    let client = client(&server);
    send(&client, &prompts(40, 200), 0, 64).await;
    let report = &server.engines()[0];
    assert!(
        report.most_used_blocks <= 40 && report.most_used_blocks >= 38,
        "{report:?}"
    );
    assert!(report.preemptions > 0, "{report:?}");
    let seen = Observed::parse(&server.metrics());
    assert_eq!(seen.preemptions, Some(report.preemptions as f64));
    assert_eq!(seen.output_tokens, Some(64.0 * 200.0));
    let lost: u32 = server.log().iter().map(|stream| stream.preemptions).sum();
    assert_eq!(u64::from(lost), report.preemptions);
}

#[tokio::test]
async fn goodput_counts_the_answers_that_keep_every_bound() {
    let server = LlmServer::scripted(Script {
        ttft: ms(5),
        gap: ms(1),
    })
    .start()
    .unwrap();
    for (bounds, good) in [("ttft<=10s, tpot<=1s", 4), ("ttft<=10s, ttft_sent<=1ms", 0)] {
        let client = Inference::builder(&server.url(), "testbed")
            .goodput(bounds.parse().unwrap())
            .build()
            .unwrap();
        let recorder = recorder();
        for seq in 0..4 {
            let request = client.request(prompts(8, 5).prompt(1, seq)).unwrap();
            let arrival = recorder.arrive_at(seq, Instant::now());
            let (answer, _) = arrival.measure(client.call(request)).await;
            answer.unwrap();
        }
        let counts: Vec<_> = recorder.finish().steady().counts().collect();
        let counted = counts.iter().find(|(name, _)| *name == "good");
        assert_eq!(
            counted.map_or(0, |(_, count)| *count),
            good,
            "{bounds}: {counts:?}"
        );
    }
}

#[tokio::test]
async fn prefixes_that_are_shared_are_found_in_the_cache() {
    let server = LlmServer::simulated(ClusterConfig::single(engine()))
        .start()
        .unwrap();
    let client = client(&server);
    let shared = prompts(20, 2).prefixes(PrefixTree::flat(1, 160, 0.0).unwrap());
    send(&client, &shared, 0, 1).await;
    send(&client, &shared, 1, 1).await;
    let log = server.log();
    assert_eq!((log[0].cached_tokens, log[1].cached_tokens), (0, 160));
    assert_eq!(log[1].prompt_tokens, 180);
}
