//! Sweeps of simulated services whose truth is known.

#![allow(clippy::unwrap_used)]

mod simulated;

use openloop_experiment::simulate::{Served, Simulated, Station, simulate};
use openloop_experiment::sweep::{Capacity, Curve, Sweep, Zone};
use openloop_experiment::{Plan, ProtocolError, Slo, Steadiness, drive};
use openloop_measurer::Outcome;
use openloop_sched::{Arrivals, Offset, Ticket};
use openloop_workload::Values;
use openloop_workload::values::Empirical;
use simulated::{base, floor, full, per_second, ready, station, sweep};
use std::collections::BTreeSet;
use std::time::Duration;

fn slo(text: &str) -> Slo {
    text.parse().unwrap()
}

/// P99 = ln(100)/(μ − λ) of M/M/1 with μ = 1000/s is 20 ms at this rate.
const TRUTH: f64 = 769.741;

fn find_20_ms(seed: u64, resolution: f64, steady: u64) -> Curve {
    let find = Sweep::find(slo("p99<=20ms"), per_second(100.0))
        .growth(2.0)
        .resolution(resolution);
    let base = base(steady).seed(seed);
    sweep(&find, &base, &station(1, "exponential:0.001"))
}

/// 20 seeds within 3 % in full; else fewer, within ten.
#[test]
fn the_capacity_of_one_exponential_server_is_found_from_below() {
    let (seeds, resolution, steady) = match full() {
        true => (20, 0.03, 300),
        false => (6, 0.1, 30),
    };
    let found = |seed| {
        let curve = find_20_ms(seed, resolution, steady);
        let found = curve.found();
        assert!(found.is_found(), "{curve}");
        found.rate().unwrap()
    };
    let rates: Vec<f64> = (1..=seeds).map(found).collect();
    println!("found {rates:?}, the truth is {TRUTH}");
    let is_right = |rate: &&f64| **rate <= TRUTH && **rate >= (1.0 - resolution) * TRUTH;
    let right = rates.iter().filter(is_right).count();
    assert!(right as u64 >= seeds * 19 / 20, "{right} of {rates:?}");
}

#[test]
fn a_service_that_is_always_fine_is_said_to_carry_at_least_what_was_tried() {
    let find = Sweep::find(slo("p99<=20ms"), per_second(50.0)).up_to(per_second(400.0));
    let curve = sweep(&find, &base(30), &station(1000, "exponential:0.001"));
    let Capacity::AtLeast { rate, .. } = curve.found() else {
        panic!("{curve}");
    };
    assert_eq!(rate, 400.0);
    assert!(matches!(curve.max(), Capacity::AtLeast { .. }), "{curve}");
    assert!(
        curve
            .found()
            .to_string()
            .starts_with("not found, at least 400/s")
    );
}

#[test]
fn a_service_that_is_never_fine_is_said_to_carry_less_than_the_lowest_rate() {
    let find = Sweep::find(slo("p99<=20ms"), per_second(50.0));
    let curve = sweep(&find, &base(30), &station(1000, "fixed:0.025"));
    let Capacity::Below { rate, .. } = curve.found() else {
        panic!("{curve}");
    };
    assert_eq!(rate, 50.0);
    assert_eq!(curve.points().len(), 1, "{curve}");
    // With the floor at hand it is known why.
    let service = station(1000, "fixed:0.025");
    let base = base(30);
    let curve = sweep(&find.floor(floor(&base, &service)), &base, &service);
    assert!(
        matches!(curve.found(), Capacity::Infeasible { .. }),
        "{curve}"
    );
}

/// A mix whose idle P99 is seven times its mean already: the knee is where its own tail has tripled, at 181/s by Lindley's
/// recursion over 1.5 million arrivals, or ρ = .52.
#[test]
fn a_long_tail_of_the_idle_service_is_no_knee() {
    let law = Empirical::with_counts([(0.001, 9), (0.020, 1)]).unwrap();
    let service = Station::new(1, Values::Empirical(law)).unwrap();
    let base = base(60);
    let find = Sweep::find(slo("p99<=3S"), per_second(20.0))
        .resolution(0.1)
        .floor(floor(&base, &service));
    let curve = sweep(&find, &base, &service);
    let knee = curve.knee();
    // 344.8/s are the most that it serves.
    let rate = knee.rate().unwrap();
    assert!(
        knee.is_found() && (0.9 * 181.0..181.0).contains(&rate),
        "{curve}"
    );
    assert_eq!(curve.ratio_in_use().unwrap().name(), "inflation");
}

#[test]
fn a_run_that_may_not_be_believed_is_no_limit_of_the_service() {
    // From 300/s on the generator is too slow.
    let service = station(1, "exponential:0.001");
    let broken =
        |plan: &Plan| plan.schedule().unwrap().profile().unwrap().expected() > 300.0 * 30.0;
    let find = Sweep::find(slo("p99<=20ms"), per_second(100.0)).growth(2.0);
    let curve = ready(find.run(&base(30), async |plan| match broken(plan) {
        false => simulate(plan, service.clone()),
        true => simulate(plan, Unsent),
    }))
    .unwrap();
    let Capacity::AtLeast { rate, why } = curve.found() else {
        panic!("{curve}");
    };
    assert!((200.0..300.0).contains(&rate), "{curve}");
    assert!(why.contains("may not be believed"), "{why}");
    assert!(matches!(curve.max(), Capacity::AtLeast { .. }), "{curve}");
    assert!(
        curve
            .warnings()
            .iter()
            .any(|warning| warning.contains("says nothing"))
    );
}

#[derive(Clone)]
struct Unsent;

impl Simulated for Unsent {
    fn begin(&mut self, _: u64) {}

    fn serve(&mut self, _: Ticket, at: Offset) -> Served {
        Served {
            outcome: Outcome::Unsent,
            ..Served::at(at)
        }
    }
}

#[test]
fn a_list_ends_where_the_service_is_saturated() {
    let service = station(4, "exponential:0.010");
    let rates = [100.0, 200.0, 300.0, 360.0, 500.0, 1000.0].map(per_second);
    let base = base(30);
    let sweeper = Sweep::rates(rates).floor(floor(&base, &service));
    let curve = sweep(&sweeper, &base, &service);
    let asked: Vec<f64> = curve
        .points()
        .iter()
        .map(|point| point.per_second())
        .collect();
    assert_eq!(asked, [100.0, 200.0, 300.0, 360.0, 500.0]);
    let Capacity::Found { rate, not_at, .. } = curve.max() else {
        panic!("{curve}");
    };
    assert!((rate - 400.0).abs() < 15.0 && not_at == 500.0, "{curve}");
    assert!(
        curve.knee().is_found() && curve.cliff().is_found(),
        "{curve}"
    );
    assert!(curve.knee().rate() <= curve.cliff().rate(), "{curve}");
    let zones: Vec<Option<Zone>> = curve
        .points()
        .iter()
        .map(|point| curve.zone(point))
        .collect();
    assert_eq!(
        (zones[0], zones[4]),
        (Some(Zone::Free), Some(Zone::Saturated)),
        "{curve}"
    );

    let fits = curve.fits();
    let mmc = fits.mmc.as_ref().unwrap();
    assert!(mmc.rate_interval.holds(400.0) && mmc.servers == 4, "{fits}");
    let busy = curve.utilisations(&curve.points()[2], &fits);
    let by = |formula: &str| {
        let found = busy.iter().find(|busy| busy.formula.starts_with(formula));
        found.map(|busy| busy.value).unwrap()
    };
    assert!((by("rate / highest") - 0.75).abs() < 0.05, "{busy:?}");
    assert!((by("rate x S / c") - 0.75).abs() < 0.05, "{busy:?}");
    // It takes the pool for one server, which waits far more: M/M/4 at ρ = .75 has W/S = 1.51.
    assert!((by("1 - S/W") - 0.34).abs() < 0.07, "{busy:?}");
    assert!((by("rate x S") - 3.0).abs() < 0.2, "{busy:?}");
}

/// Whoever finds the one server busy is turned away: of 40/s it serves 38.5, of 600/s 375 and of 900/s 474.
#[test]
fn a_rate_above_all_that_is_served_is_not_carried_and_the_reason_is_that() {
    let service = station(1, "exponential:0.001").waiting(0);
    let found = |rates: [f64; 2]| {
        let list = Sweep::rates(rates.map(per_second)).within(slo("response_ok.p99<=20ms"));
        sweep(&list, &base(100), &service).found()
    };
    let Capacity::Below { rate, why } = found([600.0, 900.0]) else {
        panic!("{}", found([600.0, 900.0]));
    };
    assert_eq!(rate, 600.0);
    assert!(why.starts_with("no more than 37"), "{why}");
    let Capacity::Found { rate, why, .. } = found([40.0, 900.0]) else {
        panic!("{}", found([40.0, 900.0]));
    };
    assert_eq!((rate, why.as_str()), (40.0, "no more is served"));
}

#[test]
fn every_step_has_a_seed_and_a_nonce_of_its_own() {
    let mut seen = BTreeSet::new();
    let sweeper = Sweep::fractions(per_second(100.0), [0.1, 0.2, 0.3]);
    let service = station(1, "exponential:0.001");
    let run = async |plan: &Plan| {
        assert!(seen.insert((plan.seed(), plan.nonce())));
        simulate(plan, service.clone())
    };
    let curve = ready(sweeper.run(&base(10), run)).unwrap();
    assert_eq!((curve.points().len(), seen.len()), (3, 3));
    let nonces: BTreeSet<u64> = seen.iter().map(|(_, nonce)| *nonce).collect();
    assert_eq!(nonces.len(), 3);
    // And the same the next time.
    let run = async |plan: &Plan| {
        assert!(seen.contains(&(plan.seed(), plan.nonce())));
        simulate(plan, service.clone())
    };
    ready(sweeper.run(&base(10), run)).unwrap();
}

#[test]
fn rates_can_be_given_in_tokens() {
    let sweeper = Sweep::rates([2500.0, 5000.0].map(per_second)).counted("output_tokens", 250.0);
    let curve = sweep(&sweeper, &base(10), &station(1, "exponential:0.001"));
    let asked: Vec<f64> = curve
        .points()
        .iter()
        .map(|point| point.per_second())
        .collect();
    assert_eq!(asked, [10.0, 20.0]);
    assert_eq!(curve.counted().unwrap().name, "output_tokens");
    // A simulated service counts none.
    assert_eq!(curve.points()[0].counted("output_tokens"), None);
}

#[test]
fn one_rate_is_no_capacity_and_says_so() {
    let curve = sweep(
        &Sweep::rates([per_second(100.0)]),
        &base(10),
        &station(1, "exponential:0.001"),
    );
    assert!(
        curve
            .warnings()
            .iter()
            .any(|warning| warning.starts_with("one rate"))
    );
    assert!(curve.to_string().contains("warning: one rate"), "{curve}");
    assert!(matches!(curve.knee(), Capacity::Unknown { .. }));
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_sent() {
    let refused = |sweep: Sweep| {
        let base = base(10);
        let run = sweep.run(&base, async |_: &Plan| panic!("nothing is to be sent"));
        match ready(run) {
            Err(ProtocolError::Options(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let find = |text| Sweep::find(slo(text), per_second(10.0));
    assert!(refused(Sweep::rates([])).contains("without rates"));
    assert!(refused(Sweep::fractions(per_second(10.0), [0.0])).contains("above 0"));
    assert!(refused(Sweep::rates([1.0, 2.0, 1.0].map(per_second))).contains("twice"));
    assert!(refused(find("p99<=1s").knee(slo("p99<=1s"))).contains("no knee"));
    assert!(refused(find("p99<=3S")).contains("floor"));
    assert!(refused(find("achieved>=5/s")).contains("lower rates"));
    assert!(refused(find("p99<=1s").growth(1.0)).contains("factor"));
    assert!(refused(find("p99<=1s").resolution(0.0)).contains("resolution"));
    assert!(refused(find("p99<=1s").up_to(per_second(5.0))).contains("higher end"));
    assert!(refused(find("p99<=1s").counted("tokens", 0.0)).contains("above 0"));
}

/// The same on a driver, under the paused clock: what is stopped early ends the sweep.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_ends_the_sweep() {
    let sweeper = Sweep::rates([10.0, 20.0, 25.0].map(per_second));
    // The paused clock ticks in whole milliseconds.
    let base = base(10).arrivals(Arrivals::Constant);
    let mut runs = 0;
    let trial = async |plan: &Plan| {
        runs += 1;
        let run = drive::shared(plan, |_: Ticket| async {});
        let stop = run.stop_handle();
        if runs == 2 {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(5)).await;
                stop.stop();
            });
        }
        run.await
    };
    let curve = sweeper.run(&base, trial).await.unwrap();
    assert_eq!((curve.points().len(), runs), (2, 2));
    let told = curve.warnings();
    assert!(
        told.iter().any(|told| told.contains("interrupted")),
        "{told:?}"
    );
}

/// Replicas at 200/s of a service that is sometimes half as fast; and the runs after a set of them are all alike.
#[test]
fn replicas_of_a_rate_that_disagree_are_named_and_made_anew_on_request() {
    let made = std::cell::Cell::new(0);
    let list = |retests| {
        made.set(0);
        let sweeper = Sweep::rates([100.0, 200.0].map(per_second))
            .within(slo("p99<=100ms"))
            .runs(3)
            .retest(retests);
        let run = async |plan: &Plan| {
            made.set(made.get() + 1);
            let slow = made.get() == 5;
            simulate(
                plan,
                station(1, if slow { "fixed:0.002" } else { "fixed:0.001" }),
            )
        };
        ready(sweeper.run(&base(60), run)).unwrap()
    };
    let curve = list(0);
    let steady = |index: usize| curve.points()[index].stability().unwrap().steadiness();
    assert_eq!(made.get(), 6);
    assert_eq!(
        (steady(0), steady(1)),
        (Steadiness::Stable, Steadiness::Discard)
    );
    let told = curve.warnings();
    assert!(
        told.iter()
            .any(|told| told.contains("200/s disagree") && told.contains("hardware")),
        "{told:?}"
    );
    // What the runs at 200/s say is no answer.
    assert_eq!(curve.found().rate(), Some(100.0), "{curve}");

    let curve = list(1);
    assert_eq!((made.get(), curve.points()[1].discarded().len()), (9, 1));
    let second = curve.points()[1].stability().unwrap();
    assert_eq!(second.steadiness(), Steadiness::Stable, "{second}");
    assert_eq!(curve.found().rate(), Some(200.0), "{curve}");
}
