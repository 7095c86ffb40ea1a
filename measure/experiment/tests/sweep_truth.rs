//! Searches with steps as short as a user makes them, for services whose capacity is known by formula.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod simulated;

use openloop_capacity::{MD1, MMc, Queue};
use openloop_experiment::simulate::{Station, simulate};
use openloop_experiment::sweep::Sweep;
use openloop_experiment::{FloorTrials, Lifecycle, Plan, PlanBuilder};
use simulated::{full, per_second, ready, station, sweep};
use std::time::Duration;

/// The phases of a first look: half a minute is measured.
fn first_look(seed: u64) -> PlanBuilder {
    let seconds = Duration::from_secs;
    Plan::open(per_second(1.0)).seed(seed).lifecycle(Lifecycle {
        ramp_up: seconds(5),
        warm_up: seconds(5),
        steady: seconds(30),
        cooldown: seconds(5),
    })
}

/// The highest rate at which the P99 of the response is at most `limit` seconds.
fn truth(highest: f64, limit: f64, p99: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, highest);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match p99(middle) <= limit {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

/// What was found in each of the seeds, as a share of the truth.
struct Found {
    name: &'static str,
    shares: Vec<f64>,
}

impl Found {
    fn above(&self) -> usize {
        self.shares.iter().filter(|share| **share > 1.0).count()
    }

    fn median(&self) -> f64 {
        let mut shares = self.shares.clone();
        shares.sort_by(f64::total_cmp);
        shares[shares.len() / 2]
    }

    fn check(&self, within: f64) {
        let (name, shares) = (self.name, &self.shares);
        println!(
            "{name}: median {:.3} of the truth, {shares:.3?}",
            self.median()
        );
        assert!(self.above() * 20 <= shares.len(), "{name}: above the truth");
        assert!(self.median() >= 1.0 - within, "{name}: far below the truth");
    }
}

fn seeds() -> u64 {
    match full() {
        true => 20,
        false => 2,
    }
}

fn search(slo: &str, from: f64, truth: f64, service: &Station, needs_floor: bool) -> Vec<f64> {
    let share = |seed| {
        let base = first_look(seed);
        let mut find = Sweep::find(slo.parse().unwrap(), per_second(from));
        if needs_floor {
            let trials = FloorTrials::default().requests(1000);
            let floor = trials.measure(base.clone(), async |plan: &Plan| {
                simulate(plan, service.clone())
            });
            find = find.floor(ready(floor).unwrap());
        }
        let curve = sweep(&find, &base, service);
        let rate = curve.found().rate().unwrap_or_else(|| panic!("{curve}"));
        rate / truth
    };
    (1..=seeds()).map(share).collect()
}

/// P99 = 3 times that of the idle service, which is ln(100) S.
fn knee(name: &'static str, servers: u32, s: f64) -> Found {
    let highest = f64::from(servers) / s;
    let p99 = |rate: f64| {
        let queue = MMc::new(rate, s, servers).unwrap();
        queue.response_quantile(0.99).unwrap()
    };
    let truth = truth(highest, 3.0 * 100_f64.ln() * s, p99);
    let service = station(servers, &format!("exponential:{s}"));
    Found {
        name,
        shares: search("p99<=3S", highest / 8.0, truth, &service, true),
    }
}

#[test]
fn the_knee_of_one_exponential_server_is_not_above_the_truth() {
    knee("M/M/1", 1, 0.001).check(0.12);
}

#[test]
fn the_knee_of_four_servers_is_not_above_the_truth() {
    knee("M/M/4", 4, 0.001).check(0.08);
}

/// Near its knee the memory of this queue is ten seconds: no step of ten minutes can tell, and none may pass by chance.
#[test]
fn the_knee_of_many_slow_servers_is_not_above_the_truth() {
    knee("M/M/32", 32, 0.010).check(0.06);
}

#[test]
fn the_knee_of_a_fixed_service_is_not_above_the_truth() {
    let p99 = |rate: f64| {
        let queue = MD1::new(rate, 0.001).unwrap();
        queue.response_quantile(0.99).unwrap()
    };
    let truth = truth(999.0, 0.003, p99);
    let service = station(1, "fixed:0.001");
    Found {
        name: "M/D/1",
        shares: search("p99<=3S", 50.0, truth, &service, true),
    }
    .check(0.12);
}

#[test]
fn a_bound_in_milliseconds_is_not_exceeded_either() {
    let truth = 1000.0 - 100_f64.ln() / 0.020;
    let service = station(1, "exponential:0.001");
    Found {
        name: "M/M/1 within 20 ms",
        shares: search("p99<=20ms", 100.0, truth, &service, false),
    }
    .check(0.05);
}

/// One sided at 99.5 %, whatever the length: from a queue that forgets at once to one that remembers the whole run.
#[test]
fn a_run_says_that_a_bound_is_kept_by_chance_in_one_of_a_hundred_at_most() {
    let seeds = if full() { 400 } else { 60 };
    for (servers, s, used) in [(1, 0.001, 0.77), (4, 0.010, 0.88), (32, 0.010, 0.98)] {
        let rate = used * f64::from(servers) / s;
        let queue = MMc::new(rate, s, servers).unwrap();
        let p99 = queue.response_quantile(0.99).unwrap();
        // A bound that the truth breaks by a hair.
        let slo = format!("p99<={}ns", (p99 * 0.999e9).round());
        let service = station(servers, &format!("exponential:{s}"));
        let passes = (1..=seeds).filter(|seed| {
            let list = Sweep::rates([per_second(rate)]).within(slo.parse().unwrap());
            let curve = sweep(&list, &first_look(*seed), &service);
            curve.found().rate().is_some()
        });
        let passes = passes.count();
        println!("M/M/{servers} at {used}: {passes} of {seeds}");
        // The chance of more is below one in a thousand at 2 %.
        let most = if full() { 18 } else { 6 };
        assert!(passes <= most, "M/M/{servers}: {passes} of {seeds}");
    }
}
