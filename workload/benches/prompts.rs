//! Microseconds a prompt, and nanoseconds a row of a trace.
//!
//! ```text
//! cargo bench -p openloop-workload --bench prompts
//! ```
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and fails by a panic"
)]

use openloop_workload::prompts::{Conversations, PrefixTree, Prompts, Vocabulary};
use openloop_workload::traces::Trace;
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let prompts = Prompts::new(
        "lognormal:mean=3072,cv=0.5,max=8192".parse().unwrap(),
        "exponential:200".parse().unwrap(),
    );
    let tree = PrefixTree::flat(100, 1024, 1.0).unwrap();
    let prompts = prompts.unwrap().prefixes(tree);
    println!("4096 tokens in the mean, 1024 of them shared:");
    let ids = Vocabulary::new(1000..100_000).unwrap();
    print("  plan", 100_000, |seq| {
        prompts.prompt(1, seq).output_tokens as usize
    });
    print("  plan and text", 2_000, |seq| {
        prompts.prompt(1, seq).text().len()
    });
    print("  plan and messages", 2_000, |seq| {
        prompts.prompt(1, seq).messages().len()
    });
    print("  plan and token ids", 2_000, |seq| {
        prompts.prompt(1, seq).token_ids(ids).len()
    });
    let talk = Conversations::new("fixed:100".parse().unwrap(), "fixed:100".parse().unwrap());
    let talk = talk.unwrap();
    print(
        "turn 20 of a conversation, 4100 tokens, and text",
        2_000,
        |session| {
            talk.turn(1, session, 20)
                .map_or(0, |prompt| prompt.text().len())
        },
    );

    let mut azure = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n".to_owned();
    let mut mooncake = String::new();
    for row in 0..50_000_u64 {
        let (minute, second) = (row / 60_000, row / 1000 % 60);
        azure += &format!(
            "2023-11-16 18:{minute:02}:{second:02}.{:07},4808,{row}\r\n",
            row % 1000
        );
        let ids: Vec<_> = (row..row + 16).collect();
        mooncake += &format!(
            "{{\"timestamp\": {row}, \"input_length\": 8000, \"output_length\": 50, \"hash_ids\": {ids:?}}}\n"
        );
    }
    println!("rows of a trace:");
    for (name, file) in [("  azure", azure), ("  mooncake, 16 hash ids", mooncake)] {
        let started = Instant::now();
        let rows = Trace::read(file.as_bytes()).unwrap().len();
        let nanos = started.elapsed().as_nanos() as f64 / rows as f64;
        println!("{name}: {nanos:.0} ns");
    }
}

/// The best of nine rounds, in microseconds a call.
fn print(name: &str, calls: u64, call: impl Fn(u64) -> usize) {
    let best = (0..9)
        .map(|round| {
            let started = Instant::now();
            for seq in 0..calls {
                black_box(call(round * calls + seq));
            }
            started.elapsed().as_secs_f64() * 1e6 / calls as f64
        })
        .fold(f64::INFINITY, f64::min);
    println!("{name}: {best:.2} µs");
}
