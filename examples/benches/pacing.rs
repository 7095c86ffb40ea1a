//! How evenly do requests reach the server? `cargo bench -p openloop-examples --bench pacing`
//!
//! Constant arrivals over 50 connections, from openloop and from a bare epoll generator in alternation, each against
//! a fresh server on another core. The gaps are those of the server's own log. The bare generator is the noise floor:
//! the figure to look at is the ratio of the two coefficients of variation, taken within each round.
//!
//! `-- --secs 5 --rounds 3 --rates 1000,5000,20000`

#![allow(clippy::print_stdout)]

mod support;

use std::time::Duration;

use openloop_experiment::{Lifecycle, Plan, drive, requests};
use openloop_http::{Connections, Http};
use openloop_measurer::Quantile;
use openloop_sched::{Arrivals, Rate};
use support::Result;
use support::server::Server;
use support::statistics::{Gaps, median};

const CONNECTIONS: usize = 50;
/// openloop's gaps may vary so much more than those of the bare generator: the benchmark fails if they vary more.
const GOAL: f64 = 1.2;

fn main() -> Result<()> {
    let flags = [
        ("--secs", "5"),
        ("--rounds", "3"),
        ("--rates", "1000,5000,20000"),
    ];
    let Some(flags) = support::begin("Gaps between requests at the server, constant rate", &flags)?
    else {
        return Ok(());
    };
    let length = Duration::from_secs_f64(flags.number("--secs")?);
    if length < Duration::from_secs(2) {
        return Err("--secs 2 at least: the first second and the last 0.2 s are left out".into());
    }
    println!(
        "{:>7}  {:<9} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>5}",
        "rate/s",
        "",
        "C_v",
        "p50 us",
        "p99 us",
        "p99.9 us",
        "max us",
        "planned",
        "sent",
        "at server",
        "load"
    );
    let mut broken = Vec::new();
    for rate in flags.numbers("--rates")? {
        let plan = Plan::open(Rate::per_second(rate)?)
            .lifecycle(Lifecycle::steady_only(length))
            .arrivals(Arrivals::Constant)
            .build()?;
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..flags.count("--rounds")? {
            ours.push(Round::of(&plan, openloop)?);
            bare.push(Round::of(&plan, control)?);
        }
        let load = support::load_average();
        for (name, rounds) in [("openloop", &ours), ("bare", &bare)] {
            println!("{rate:>7}  {name:<9} {} {load:>5}", row(rounds));
        }
        let pairs = ours.iter().zip(&bare);
        let ratio = median(pairs.map(|(ours, bare)| ours.gaps.variation() / bare.gaps.variation()));
        let reached = ratio <= GOAL;
        let verdict = if reached { "reached" } else { "missed" };
        if !reached {
            broken.push(format!(
                "at {rate}/s the C_v ratio is {ratio:.2}, and at most {GOAL} must hold"
            ));
        }
        println!(
            "{:>7}  C_v ratio {ratio:.2}: goal of at most {GOAL} {verdict}",
            ""
        );
    }
    support::end(&broken)
}

/// One run of one generator.
struct Round {
    gaps: Gaps,
    planned: u64,
    sent: u64,
    at_server: u64,
}

impl Round {
    fn of(plan: &Plan, generator: fn(&Plan, &Server) -> Result<u64>) -> Result<Self> {
        let server = Server::start("instant")?;
        let sent = generator(plan, &server)?;
        let log = server.into_log()?;
        Ok(Round {
            at_server: log.len() as u64,
            gaps: Gaps::of(log.iter().map(|served| served.arrival_ns).collect()),
            planned: plan.preview().map_or(0, |preview| preview.total),
            sent,
        })
    }
}

/// The medians of the rounds; counts are summed, so that one that is off shows.
fn row(rounds: &[Round]) -> String {
    let of = |figure: &dyn Fn(&Gaps) -> f64| median(rounds.iter().map(|round| figure(&round.gaps)));
    let sum = |count: fn(&Round) -> u64| rounds.iter().map(count).sum::<u64>();
    format!(
        "{:>6.3} {:>9.1} {:>9.1} {:>9.1} {:>9.0} {:>9} {:>9} {:>9}",
        of(&Gaps::variation),
        of(&|gaps| gaps.quantile_us(Quantile::P50)),
        of(&|gaps| gaps.quantile_us(Quantile::P99)),
        of(&|gaps| gaps.quantile_us(Quantile::P99_9)),
        of(&Gaps::max_us),
        sum(|round| round.planned),
        sum(|round| round.sent),
        sum(|round| round.at_server),
    )
}

/// How many requests were dispatched.
fn openloop(plan: &Plan, server: &Server) -> Result<u64> {
    let http = Http::builder(server.url())
        .connections(Connections::pool(CONNECTIONS))
        .build()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let run = runtime.block_on(async {
        drive::sharded(plan, 1, move |_| {
            let http = http.clone();
            async move {
                http.prepare().await?;
                let request = http.request();
                Ok::<_, openloop_http::HttpError>(requests(http, move |_| request.clone()))
            }
        })
        .await
    })?;
    let counts = run.snapshot().counts();
    Ok(counts.scheduled - counts.unsent - counts.shed)
}

/// How many requests were sent.
#[cfg(target_os = "linux")]
fn control(plan: &Plan, server: &Server) -> Result<u64> {
    use openloop_testbed::control::Control;
    let address = server
        .url()
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .parse()?;
    let schedule = plan
        .schedule()
        .cloned()
        .ok_or("an open loop has a schedule")?;
    let offsets = schedule.map(|ticket| ticket.intended.as_duration());
    Ok(Control::connect(address, CONNECTIONS)?.run(offsets)?.sent)
}

#[cfg(not(target_os = "linux"))]
fn control(_: &Plan, _: &Server) -> Result<u64> {
    Err("the bare generator needs epoll and timerfd, which are Linux's".into())
}
