//! What was asked for, and what the server says of it: prefixes, lengths, goodput, memory.

use crate::{client, ms, prompts, recorder, until};
use openloop_inference::{Api, Engine, Inference, Observed};
use openloop_measurer::Operation;
use openloop_testbed::batching::{ClusterConfig, EngineConfig, Layout, StepCost, Transfer};
use openloop_testbed::{LlmServer, Script};
use openloop_workload::prompts::{Cache, Conversations, Nonce, PrefixTree, Prompts};
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

/// Conversations of three turns: with scripted answers, which the server never said, and with the real ones. In blocks of
/// four tokens, of which the last of an answer is never whole.
#[tokio::test]
async fn the_hit_rate_that_conversations_promise_is_the_one_that_metrics_show() {
    for is_real in [false, true] {
        let small = EngineConfig {
            block_tokens: 4,
            blocks: 60_000,
            ..engine()
        };
        let server = LlmServer::simulated(ClusterConfig::single(small))
            .start()
            .unwrap();
        let client = Inference::builder(&server.url(), "testbed")
            .keep_text(true)
            .build()
            .unwrap();
        let talk = Conversations::new("fixed:200".parse().unwrap(), "fixed:40".parse().unwrap());
        let talk = talk.unwrap();
        let before = Observed::parse(&server.metrics());
        let mut sent = Vec::new();
        for session in 0..8 {
            let mut answers = Vec::new();
            for turn in 0..3 {
                let prompt = talk.turn(1, session, turn).unwrap();
                let said = if is_real { &answers[..] } else { &[] };
                let request = client.request_after(prompt, said).unwrap();
                let body: serde_json::Value =
                    serde_json::from_slice(request.http().body()).unwrap();
                sent.push(body);
                let answer = client.call(request).await.unwrap();
                answers.push(answer.text().map(str::to_owned));
            }
        }
        let third = sent[2]["messages"].as_array().unwrap();
        let roles: Vec<_> = third.iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
        let words = third[1]["content"].as_str().unwrap().split_whitespace();
        assert_eq!(words.clone().count(), 40);
        assert_eq!(words.clone().all(|word| word == "tok"), is_real);
        let after = Observed::parse(&server.metrics());
        let shown = after.prefix_hit_rate_since(&before).unwrap();
        let promised = match is_real {
            true => talk.hit_share_with_real_answers(3),
            false => talk.hit_share(3),
        };
        assert!(
            (shown - promised).abs() < 0.01,
            "{is_real}: {shown} for {promised}"
        );
    }
}

/// Prefixes by Zipf's law, more of them than the cache keeps.
#[tokio::test]
async fn the_hit_rate_of_prefixes_by_zipf_is_the_one_that_metrics_show() {
    let server = LlmServer::simulated(ClusterConfig::single(engine()))
        .start()
        .unwrap();
    let client = client(&server);
    let tree = PrefixTree::flat(50, 160, 1.0).unwrap();
    let prompts = prompts(40, 1).prefixes(tree).nonce(Nonce::Run(1));
    // Until all of them have come: the rarest is one of 225.
    send(&client, &prompts, 0, 1500).await;
    let before = Observed::parse(&server.metrics());
    send(&client, &prompts, 1500, 500).await;
    let after = Observed::parse(&server.metrics());
    let shown = after.prefix_hit_rate_since(&before).unwrap();
    let promised = prompts.hit_share(Cache::ENDLESS);
    assert!((shown - promised).abs() < 0.01, "{shown} for {promised}");
}

/// Under clients that come and go, with preemption, prefixes, and prefill and decode apart: the pool is never overrun, and
/// every token that was asked for is one that came.
#[tokio::test]
async fn a_server_keeps_its_books_whatever_its_clients_do() {
    let small = EngineConfig {
        blocks: 48,
        max_sequences: 16,
        max_step_tokens: 64,
        ..engine()
    };
    let apart = ClusterConfig {
        layout: Layout::Disaggregated {
            prefill: 1,
            decode: 2,
            transfer: Transfer {
                latency: 100e-6,
                per_block: 5e-6,
            },
        },
        ..ClusterConfig::single(small)
    };
    for config in [ClusterConfig::single(small), apart] {
        let server = LlmServer::simulated(config).start().unwrap();
        let client = client(&server);
        let prompts = Prompts::new(
            "uniform:lo=1,hi=200".parse().unwrap(),
            "uniform:lo=1,hi=120".parse().unwrap(),
        );
        let tree = PrefixTree::flat(3, 64, 1.0).unwrap();
        let prompts = prompts.unwrap().prefixes(tree);
        let mut running = tokio::task::JoinSet::new();
        for seq in 0..120 {
            let prompt = prompts.prompt(3, seq);
            let asked = u64::from(prompt.output_tokens);
            let (client, request) = (client.clone(), client.request(prompt).unwrap());
            running.spawn(async move {
                let call = client.call(request);
                match seq % 5 {
                    0 => tokio::time::timeout(ms(20), call).await.ok(),
                    _ => Some(call.await),
                }
                .map(|answer| (asked, answer.unwrap().output_tokens().unwrap().0))
            });
        }
        while !running.is_empty() {
            for engine in server.engines() {
                assert!(
                    engine.used_blocks <= 48 && engine.most_used_blocks <= 48,
                    "{engine:?}"
                );
            }
            if let Ok(Some(done)) = tokio::time::timeout(ms(1), running.join_next()).await
                && let Some((asked, came)) = done.unwrap()
            {
                assert_eq!(asked, came);
            }
        }
        until(|| server.under_way() == 0).await;
        for engine in server.engines() {
            assert_eq!(
                (engine.running, engine.waiting, engine.used_blocks),
                (0, 0, 0)
            );
        }
        let written: usize = server.log().iter().map(|stream| stream.tokens.len()).sum();
        let said = Observed::parse(&server.metrics()).output_tokens.unwrap();
        assert_eq!(said, written as f64);
        assert!(client.totals().output_tokens() <= written as u64);
    }
}
