//! Why does production wait longer than the benchmark? Prompts of 128 tokens each against the lengths that users send,
//! on the same simulated server.
//!
//! `cargo run --release -p openloop-examples --example inference_ttft` (25 s; `-- --quick` for less). It draws a picture:
//! `inference_ttft.svg` in the folder for temporary files, or the file behind `--svg`.
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::{Lifecycle, Metric, Plan, Run, Target, drive, requests};
use openloop_inference::Inference;
use openloop_measurer::Quantile;
use openloop_sched::Rate;
use openloop_testbed::LlmServer;
use openloop_testbed::batching::{ClusterConfig, EngineConfig, Prefill};
use openloop_workload::prompts::Prompts;
use std::error::Error;
use std::time::Duration;

const RATE: f64 = 10.0;
const SEED: u64 = 1;
/// What users are promised.
const LIMIT_MS: f64 = 200.0;
/// What the benchmark sends, and what users do.
const FIXED: &str = "fixed:128";
const REALISTIC: &str = "lognormal:mean=700,cv=1.3,min=1,max=8192";
const ANSWERS: &str = "lognormal:mean=60,cv=0.6,min=4,max=256";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut quick = false;
    let mut file = std::env::temp_dir().join("inference_ttft.svg");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => quick = true,
            "--svg" => file = arguments.next().ok_or("--svg needs a file")?.into(),
            other => {
                return Err(
                    format!("{other} is no option: there are --quick and --svg FILE").into(),
                );
            }
        }
    }
    let length = Duration::from_secs(if quick { 3 } else { 12 });
    println!(
        "a simulated server that batches continuously (8 ms a step, 60 us for each token of a prompt, whole prompts first);\n\
         {RATE} requests a second at random instants for {length:?}, answers of 60 tokens in the mean\n"
    );
    let fixed = measure(FIXED, length).await?;
    let realistic = measure(REALISTIC, length).await?;
    println!(
        "{:<34}{:>10}{:>10}{:>10}{:>10}",
        "", "TTFT p50", "p99", "TPOT p50", "p99"
    );
    let runs = [
        ("prompts of 128 tokens", &fixed),
        ("prompts as users send them", &realistic),
    ];
    for (name, run) in runs {
        println!(
            "{name:<34}{:>10}{:>10}{:>10}{:>10}",
            at(run, "ttft", Quantile::P50),
            at(run, "ttft", Quantile::P99),
            at(run, "tpot", Quantile::P50),
            at(run, "tpot", Quantile::P99),
        );
    }
    std::fs::write(&file, picture(&runs))?;
    println!("\nas a picture: {}", file.display());
    println!(
        "
Both runs ask for the same number of answers, and both mean well. A prompt of 128 tokens is computed in 8 ms, and
hardly ever waits for another; those of users are five times as long in the mean and fifty times at the longest, and while a
long one is computed nobody gets a token. A benchmark of equal short prompts measures a server that nobody has."
    );
    Ok(())
}

async fn measure(lengths: &str, length: Duration) -> Result<Run, Box<dyn Error>> {
    let engine = EngineConfig {
        prefill: Prefill::Whole,
        ..EngineConfig::default()
    };
    let server = LlmServer::simulated(ClusterConfig::single(engine)).start()?;
    let model = Inference::builder(&server.url(), "simulated").build()?;
    model.prepare().await?;
    let prompts = Prompts::new(lengths.parse()?, ANSWERS.parse()?)?;
    // Made ahead: writing a long prompt takes a fraction of a millisecond, which is the generator's and not the server's.
    let made: Result<Vec<_>, _> = (0..(3.0 * RATE * length.as_secs_f64()) as u64)
        .map(|seq| model.request(prompts.prompt(SEED, seq)))
        .collect();
    let made = made?;
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle::steady_only(length))
        .target(Target::SameProcess)
        .seed(SEED)
        .build()?;
    let request = move |seq: u64| made[seq as usize % made.len()].clone();
    let run = drive::shared(&plan, requests(model, request)).await?;
    if !run.validity().is_valid() {
        println!("? the machine was too busy for this run: its figures are not to be believed");
    }
    Ok(run)
}

fn metric(name: &str) -> Metric {
    Metric::Named(name.to_owned())
}

fn at(run: &Run, name: &str, q: Quantile) -> String {
    let value = run.series(&metric(name)).quantile(q);
    value.map_or("-".to_owned(), |value| {
        format!("{:.1} ms", value.ns() as f64 / 1e6)
    })
}

/// The picture's size, and its margins: its letters can be read on a telephone as well.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 76.0;
const BELOW: f64 = 40.0;

/// By day and by night.
const STYLE: &str = "<style>
svg { max-width: 960px; color-scheme: light dark; background: var(--page); --page: #fff; --text: #222; --faint: #555; --grid: #ddd; --first: #2a78d6; --second: #d03b3b; }
@media (prefers-color-scheme: dark) {
svg { --page: #1b1d21; --text: #e6e6e6; --faint: #b0b0b0; --grid: #3a3d42; --first: #6cabf5; --second: #f28b82; }
}
rect { fill: var(--page); } text { fill: var(--text); } .faint { fill: var(--faint); }
line { stroke: var(--grid); } line.faint { stroke: var(--faint); stroke-dasharray: 6 4; }
polyline { fill: none; stroke-width: 2.5; }
text.first { fill: var(--first); } text.second { fill: var(--second); }
polyline.first { stroke: var(--first); } polyline.second { stroke: var(--second); }
</style>";

/// Of a hundred first tokens how many wait longer: the percentiles of both runs, on an axis on which the tail has room.
fn picture(runs: &[(&str, &Run)]) -> String {
    let curves: Vec<Vec<(f64, f64)>> = runs.iter().map(|(_, run)| curve(run)).collect();
    let all = || curves.iter().flatten();
    let right = all().map(|point| point.0).fold(2.0, f64::max);
    let most = all().map(|point| point.1).fold(LIMIT_MS, f64::max) * 1.3;
    let least = all().map(|point| point.1).fold(LIMIT_MS, f64::min) / 1.3;
    let x = |ones_in: f64| LEFT + (WIDTH - LEFT - RIGHT) * ones_in.ln() / right.ln();
    let y =
        |ms: f64| TOP + (HEIGHT - TOP - BELOW) * (1.0 - (ms / least).ln() / (most / least).ln());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"15\">\n\
         <title>Time to first token: equal short prompts against those of users</title>\n{STYLE}\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
         <text x=\"16\" y=\"24\" font-size=\"16\">Time to first token by percentile: one server, {RATE} requests a second</text>\n"
    );
    let (bottom, end) = (HEIGHT - BELOW, WIDTH - RIGHT);
    for (name, one_in) in [
        ("p50", 2.0),
        ("p75", 4.0),
        ("p90", 10.0),
        ("p95", 20.0),
        ("p99", 100.0),
        ("p99.9", 1000.0),
    ] {
        if one_in <= right {
            svg += &format!(
                "<line x1=\"{0}\" x2=\"{0}\" y1=\"{TOP}\" y2=\"{bottom}\"/><text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\">{name}</text>\n",
                x(one_in),
                bottom + 20.0
            );
        }
    }
    for ms in [
        5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0,
    ] {
        if (least..most).contains(&ms) {
            svg += &format!(
                "<line x1=\"{LEFT}\" x2=\"{end}\" y1=\"{0}\" y2=\"{0}\"/><text x=\"{1}\" y=\"{2}\" text-anchor=\"end\">{ms} ms</text>\n",
                y(ms),
                LEFT - 8.0,
                y(ms) + 4.0
            );
        }
    }
    svg += &format!(
        "<line x1=\"{LEFT}\" x2=\"{end}\" y1=\"{0}\" y2=\"{0}\" class=\"faint\"/>\n\
         <text x=\"{1}\" y=\"{2}\" class=\"faint\">an objective of {LIMIT_MS} ms</text>\n",
        y(LIMIT_MS),
        LEFT + 8.0,
        y(LIMIT_MS) - 6.0
    );
    let classes = ["first", "second"].into_iter().zip([46.0, 66.0]);
    for ((class, below), (curve, (name, run))) in classes.zip(curves.iter().zip(runs)) {
        let points: String = curve
            .iter()
            .map(|(one_in, ms)| format!("{:.1},{:.1} ", x(*one_in), y(*ms)))
            .collect();
        svg += &format!(
            "<polyline points=\"{points}\" class=\"{class}\"/>\n\
             <text x=\"16\" y=\"{below}\" class=\"{class}\">{name}: p50 {}, p99 {}</text>\n",
            at_quantile(run, Quantile::P50),
            at_quantile(run, Quantile::P99),
        );
    }
    svg + "</svg>\n"
}

fn at_quantile(run: &Run, q: Quantile) -> String {
    at(run, "ttft", q)
}

/// One in how many waits longer, and how long that is in milliseconds: to the last that the run can tell.
fn curve(run: &Run) -> Vec<(f64, f64)> {
    let series = run.series(&metric("ttft"));
    let n = series.whole().count().max(1);
    let ranks = (0..200).map(|step| (n as f64).powf(f64::from(step) / 199.0));
    let point = |one_in: f64| {
        let above = (n as f64 / one_in).round() as u64;
        let q = Quantile::new(n.saturating_sub(above).max(1), n).ok()?;
        Some((one_in, series.quantile(q)?.ns() as f64 / 1e6))
    };
    ranks.filter_map(point).collect()
}
