//! In its limits an engine is a queue that has formulas.
//!
//! Figures are means over independent runs; each has to lie within 3.5 of its own standard errors of the law.

use crate::{arrivals, engine, exponential, mean, rng, simulate, uniform};
use openloop_capacity::batching::{
    ClusterConfig, EngineConfig, Outcome, Prefill, Request, StepCost,
};
use openloop_capacity::{MG1, MM1, Queue};
use std::time::Duration;

const RUNS: u64 = 20;

/// `from` to `to`, with what chance explains on both sides.
#[track_caller]
fn assert_between(what: &str, values: &[f64], from: f64, to: f64) {
    let n = values.len() as f64;
    let center = mean(values.iter().copied());
    let variance = values
        .iter()
        .map(|value| (value - center).powi(2))
        .sum::<f64>()
        / (n - 1.0);
    let error = 3.5 * (variance / n).sqrt();
    assert!(
        (from - error..=to + error).contains(&center),
        "{what}: {center} \u{b1} {error}, and the law says {from} to {to}"
    );
}

/// After a tenth, by which the queue has forgotten that it was empty.
fn steady(outcome: &Outcome, of: impl Fn(&openloop_capacity::batching::Completion) -> f64) -> f64 {
    let all = crate::by_id(outcome);
    mean(all[all.len() / 10..].iter().map(|done| of(done)))
}

/// One sequence at a time.
fn one_at_a_time(cost: StepCost) -> ClusterConfig {
    ClusterConfig::single(EngineConfig {
        blocks: 64,
        block_tokens: 1024,
        max_sequences: 1,
        max_step_tokens: 1,
        prefill: Prefill::Whole,
        cost,
        ..engine()
    })
}

#[test]
fn a_batch_of_one_and_exponential_prompts_are_mm1() {
    let cost = StepCost {
        per_prompt_token: 1e-4,
        ..StepCost::default()
    };
    for load in [0.3, 0.75] {
        // 2000 tokens of 0.1 ms in the mean; rounding up adds half a token.
        let law = MM1::new(load / 0.2, 0.2).unwrap();
        let (mut waits, mut responses, mut above, mut busy) = (vec![], vec![], vec![], vec![]);
        let p90 = law.response_quantile(0.9).unwrap();
        for seed in 0..RUNS {
            let mut rng = rng(seed);
            let times = arrivals(&mut rng, law.arrival_rate(), 12_000);
            let requests: Vec<_> = times
                .into_iter()
                .zip(0..)
                .map(|(at, id)| {
                    let tokens = (2000.0 * exponential(&mut rng)).ceil() as u32;
                    (at, Request::new(id, tokens, 1))
                })
                .collect();
            let outcome = simulate(one_at_a_time(cost), &requests);
            assert_eq!(outcome.completions.len(), requests.len());
            waits.push(steady(&outcome, |done| done.queue_wait.as_secs_f64()));
            responses.push(steady(&outcome, |done| done.end_to_end.as_secs_f64()));
            above.push(steady(&outcome, |done| {
                f64::from(u8::from(done.end_to_end.as_secs_f64() > p90))
            }));
            busy.push(outcome.engines[0].utilisation.unwrap());
        }
        // Half a token in 2000 makes the load higher by 0.00025, and waits at 0.75 longer by 0.1 %.
        let (wait, response) = (law.mean_wait(), law.mean_response());
        assert_between("wait", &waits, wait, 1.002 * wait);
        assert_between("response", &responses, response, 1.002 * response);
        assert_between("above the P90", &above, 0.1, 0.1005);
        assert_between("\u{3c1}", &busy, load, 1.0005 * load);
    }
}

#[test]
fn a_batch_of_one_that_decodes_is_mg1() {
    // Steps of 10 ms; a geometric number of tokens, 10 in the mean, the first of them with the prompt.
    let cost = StepCost {
        base: 0.010,
        ..StepCost::default()
    };
    let (service, cv) = (0.1, 0.9_f64.sqrt());
    let law = MG1::new(6.0, service, cv).unwrap();
    let (mut waits, mut first) = (vec![], vec![]);
    for seed in 0..RUNS {
        let mut rng = rng(100 + seed);
        let times = arrivals(&mut rng, law.arrival_rate(), 6000);
        let requests: Vec<_> = times
            .into_iter()
            .zip(0..)
            .map(|(at, id)| {
                let tokens = (uniform(&mut rng).ln() / 0.9_f64.ln()).ceil().max(1.0);
                (at, Request::new(id, 1, tokens as u32))
            })
            .collect();
        let outcome = simulate(one_at_a_time(cost), &requests);
        waits.push(steady(&outcome, |done| done.queue_wait.as_secs_f64()));
        first.push(steady(&outcome, |done| {
            done.time_to_first_token.as_secs_f64()
        }));
    }
    assert_between("wait", &waits, law.mean_wait(), law.mean_wait());
    assert_between(
        "first token",
        &first,
        law.mean_wait() + 0.010,
        law.mean_wait() + 0.010,
    );
}

/// W_q of M/D/c for services of 1 s, from the number in the system at instants that are a service apart, between which
/// all who were served have left: C. D. Crommelin (1932).
fn mdc_wait(rate: f64, servers: usize) -> f64 {
    const STATES: usize = 400;
    let mut arrive = vec![(-rate).exp()];
    for n in 1..STATES {
        arrive.push(arrive[n - 1] * rate / n as f64);
    }
    let mut number = vec![0.0; STATES];
    number[0] = 1.0;
    loop {
        let mut next = vec![0.0; STATES];
        for (n, p) in number.iter().enumerate() {
            let left = n.saturating_sub(servers);
            for (more, q) in arrive.iter().take(STATES - left).enumerate() {
                next[left + more] += p * q;
            }
        }
        let moved: f64 = next.iter().zip(&number).map(|(a, b)| (a - b).abs()).sum();
        number = next;
        if moved < 1e-13 {
            break;
        }
    }
    let queue: f64 = number
        .iter()
        .enumerate()
        .map(|(n, p)| n.saturating_sub(servers) as f64 * p)
        .sum();
    queue / rate
}

#[test]
fn the_law_that_is_tested_against_is_that_of_pollaczek_and_khinchine_for_one_server() {
    let exact = MG1::new(0.7, 1.0, 0.0).unwrap().mean_wait();
    assert!((mdc_wait(0.7, 1) / exact - 1.0).abs() < 1e-9);
}

#[test]
fn a_batch_of_c_and_answers_of_one_length_are_mdc() {
    // 200 steps of 5 ms each, whatever is in them.
    let step = 0.005;
    for (servers, load) in [(2_u32, 0.6), (4, 0.8)] {
        let rate = load * f64::from(servers);
        let config = ClusterConfig::single(EngineConfig {
            max_sequences: servers,
            cost: StepCost {
                base: step,
                ..StepCost::default()
            },
            ..engine()
        });
        let (mut waits, mut responses) = (vec![], vec![]);
        for seed in 0..RUNS {
            let times = arrivals(&mut rng(200 + seed), rate, 3000);
            let requests: Vec<_> = times
                .into_iter()
                .zip(0..)
                .map(|(at, id)| (at, Request::new(id, 1, 200)))
                .collect();
            let outcome = simulate(config, &requests);
            assert!(outcome.engines[0].largest_batch == servers);
            waits.push(steady(&outcome, |done| done.queue_wait.as_secs_f64()));
            responses.push(steady(&outcome, |done| done.end_to_end.as_secs_f64()));
        }
        // Who comes during a step joins at its end: up to a step later than at servers of its own.
        let wait = mdc_wait(rate, servers as usize);
        assert_between("wait", &waits, wait, wait + step);
        assert_between("response", &responses, wait + 1.0, wait + 1.0 + step);
    }
}

#[test]
fn engines_that_take_turns_share_the_load_evenly() {
    let requests: Vec<_> = (0..300_u64)
        .map(|id| (Duration::from_millis(10 * id), Request::new(id, 20, 5)))
        .collect();
    let config = ClusterConfig {
        layout: openloop_capacity::batching::Layout::Mixed { engines: 3 },
        ..ClusterConfig::single(engine())
    };
    let outcome = simulate(config, &requests);
    assert!(outcome.engines.iter().all(|engine| engine.requests == 100));
}
