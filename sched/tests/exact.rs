//! Totals and instants against arithmetic, to the nanosecond.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::time::Duration;

use openloop_sched::{Arrivals, Offset, OpTime, Process, Profile, Rate, Schedule};

fn rate(per_second: f64) -> Rate {
    Rate::per_second(per_second).unwrap()
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn at(time: f64) -> Offset {
    Offset::from(seconds(time))
}

fn constant(profile: Profile) -> Schedule {
    Schedule::new(profile, Arrivals::Constant, 1)
}

fn hold(per_second: f64, time: f64) -> Schedule {
    constant(Profile::hold(rate(per_second), seconds(time)).unwrap())
}

fn parsed(text: &str) -> Schedule {
    constant(text.parse().unwrap())
}

fn intended(schedule: Schedule) -> Vec<u64> {
    schedule.map(|ticket| ticket.intended.as_nanos()).collect()
}

#[test]
fn a_ramp_to_100_in_10_s_has_exactly_500_at_the_square_roots() {
    let instants = intended(parsed("0->100/10s"));
    assert_eq!(instants.len(), 500);
    for (k, &instant) in instants.iter().enumerate() {
        // Λ(t) = 5·t², so arrival k is at √(k/5): the integer ⌊√(k/5 · 10¹⁸)⌋.
        assert_eq!(
            u128::from(instant),
            (k as u128 * 200_000_000_000_000_000).isqrt(),
            "{k}"
        );
    }
}

#[test]
fn a_falling_ramp_mirrors_a_rising_one() {
    let rise = intended(parsed("0->100/10s"));
    let fall = intended(parsed("100->0/10s"));
    assert_eq!(fall.len(), 500);
    // Point 500 − k of the fall stands where point k of the rise does, seen from the other end.
    for k in 1..500 {
        let mirrored = 10_000_000_000 - rise[k];
        assert!(mirrored - fall[500 - k] <= 1, "{k}");
    }
}

#[test]
fn round_products_are_not_off_by_one() {
    assert_eq!(hold(0.29, 100.0).count(), 29);
    assert_eq!(hold(0.57, 100.0).count(), 57);
    for hundredths in 1..=300u64 {
        for time in 1..=120u64 {
            let exact = (hundredths * time).div_ceil(100);
            let schedule = hold(hundredths as f64 / 100.0, time as f64);
            assert_eq!(schedule.offered(), exact, "{hundredths}/100 for {time} s");
        }
    }
}

#[test]
fn fractions_of_an_arrival_carry_over_a_pause() {
    let schedule = parsed("1.5/5s,0/5s,1.5/5s");
    assert_eq!(schedule.clone().count(), 15);
    assert_eq!(schedule.count_within(at(0.0), at(5.0)), 8);
    assert_eq!(schedule.count_within(at(5.0), at(10.0)), 0);
    // 7.5 arrivals before the pause, so point 8 comes half an arrival, 1/3 s, after it.
    assert_eq!(intended(schedule)[8], 10_333_333_333);
}

#[test]
fn high_rates_do_not_drift() {
    let fast = Profile::hold(rate(700_000.0), seconds(601.0)).unwrap();
    let arrival = OpTime::from_arrivals(420_000_000);
    assert_eq!(fast.inverse(arrival), Some(at(600.0)));
    assert_eq!(
        constant(fast).nth(7).unwrap().intended,
        Offset::from_nanos(10_000)
    );
    let thirds = Profile::hold(rate(30_000.0), seconds(1.0)).unwrap();
    for (k, instant) in intended(constant(thirds)).into_iter().enumerate() {
        assert_eq!(instant, k as u64 * 1_000_000_000 / 30_000);
    }
}

#[test]
fn windows_are_half_open_at_both_ends() {
    assert_eq!(
        intended(hold(0.1, 30.0)),
        [0, 10_000_000_000, 20_000_000_000]
    );
    // The arrival at the joint belongs to the piece that starts there …
    let schedule = parsed("1/5s,2/5s");
    assert_eq!(schedule.count_within(at(0.0), at(5.0)), 5);
    assert_eq!(intended(schedule)[5], 5_000_000_000);
    // … and where that one has none, to the next that has.
    assert_eq!(
        intended(parsed("1/2s,0/3s,1/1s")),
        [0, 1_000_000_000, 5_000_000_000]
    );
    assert_eq!(intended(parsed("0/3s,1/1s")), [3_000_000_000]);
    assert_eq!(intended(parsed("0/3s")), [0; 0]);
}

#[test]
fn a_sine_of_whole_periods_has_exactly_its_mean() {
    let profile = Profile::sine(rate(100.0), rate(100.0), seconds(10.0), seconds(30.0)).unwrap();
    assert_eq!(profile.expected(), 3000.0);
    assert_eq!(profile.rate_at(at(2.5)), rate(200.0));
    assert_eq!(profile.rate_at(at(7.5)), Rate::ZERO);
    // ∫₀ᵗ (100 + 100 sin 2πt/10) = 100 t + 1000/2π · (1 − cos 2πt/10): at 5 s, 500 + 1000/π.
    let half = profile.integral(at(5.0)).as_arrivals();
    assert!((half - (500.0 + 1000.0 / std::f64::consts::PI)).abs() < 1e-9);
    assert_eq!(constant(profile).count(), 3000);
}

#[test]
fn sequence_repetition_and_spike_add_up() {
    let spike = Profile::spike(
        rate(10.0),
        rate(100.0),
        seconds(3.0),
        seconds(1.0),
        seconds(2.0),
    )
    .unwrap();
    assert_eq!(spike.expected(), 150.0);
    assert_eq!(spike.rate_at(at(3.0)), rate(100.0));
    assert_eq!(spike.rate_at(at(4.0)), rate(10.0));
    let thrice = spike.clone().repeat(3).unwrap();
    assert_eq!((thrice.expected(), thrice.end()), (450.0, at(18.0)));
    assert_eq!(thrice.rate_at(at(15.5)), rate(100.0));
    let both = spike.then("0->100/10s".parse().unwrap()).unwrap();
    assert_eq!((both.expected(), both.end()), (650.0, at(16.0)));
    assert_eq!(both.rate_at(both.end()), Rate::ZERO);
}

#[test]
fn the_inverse_of_every_joint_is_the_joint() {
    let profile: Profile = "3/7s,3->11/13s,11/1ms,11->2/9s".parse().unwrap();
    for joint in [0.0, 7.0, 20.0, 20.001] {
        let u = profile.integral(at(joint));
        assert_eq!(profile.inverse(u), Some(at(joint)));
    }
    assert_eq!(profile.inverse(profile.integral(profile.end())), None);
    assert_eq!(profile.inverse(OpTime::MAX), None);
    assert_eq!(profile.integral(at(7.0)), OpTime::from_arrivals(21));
    assert_eq!(
        profile.integral(at(20.0)),
        OpTime::from_arrivals(21 + 7 * 13)
    );
}

/// Points 3, 1, 4, and no more.
#[derive(Clone, Debug)]
struct Disordered(Vec<u64>);

impl Process for Disordered {
    fn next_point(&mut self) -> Option<OpTime> {
        self.0.pop().map(OpTime::from_arrivals)
    }
}

#[test]
fn a_process_of_ones_own_ends_the_schedule_and_never_turns_it_back() {
    let profile: Profile = "1/10s".parse().unwrap();
    let schedule = Schedule::with_process(profile, Disordered(vec![4, 1, 3]));
    let second = 1_000_000_000;
    assert_eq!(
        intended(schedule.clone()),
        [3 * second, 3 * second, 4 * second]
    );
    let odd = schedule.shard(1, 2).unwrap();
    assert_eq!(intended(odd), [3 * second]);
}

mod what_users_of_other_tools_reported {
    use super::*;

    /// A timer that is reset to "now" drifts; tick k is at start + k·period.
    #[test]
    fn ticks_are_computed_and_not_accumulated() {
        assert_eq!(intended(hold(10.0, 100.0))[999], 99_900_000_000);
    }

    /// A token bucket that starts full sends a burst; here no window holds more than its share.
    #[test]
    fn no_phase_starts_with_a_burst() {
        let schedule = parsed("100/1s,100/1s,0->100/2s");
        for start in [0.0, 1.0, 2.0] {
            assert!(schedule.count_within(at(start), at(start + 0.1)) <= 11);
        }
    }

    /// The rate belongs to the schedule, not to the connections that share it.
    #[test]
    fn sharing_a_schedule_does_not_multiply_it() {
        let slow = hold(0.1, 30.0);
        let shards = (0..16).map(|k| slow.clone().shard(k, 16).unwrap().count());
        assert_eq!(shards.sum::<usize>(), 3);
        assert_eq!(hold(1.0, 10.0).count_within(at(0.0), at(1.0)), 1);
        let fast = hold(1_000.0, 1.0);
        for bin in 0..100 {
            let (from, to) = (at(f64::from(bin) / 100.0), at(f64::from(bin + 1) / 100.0));
            let parts =
                (0..500).map(|k| fast.clone().shard(k, 500).unwrap().count_within(from, to));
            assert_eq!(parts.sum::<u64>(), 10, "bin {bin}");
        }
    }

    /// Per-connection pacing sends in batches; here every arrival has an instant of its own.
    #[test]
    fn arrivals_are_spread_evenly_from_the_first_on() {
        let instants = intended(hold(128.0, 1.0));
        assert_eq!(instants.len(), 128);
        for (k, &instant) in instants.iter().enumerate() {
            assert_eq!(instant, k as u64 * 7_812_500);
        }
    }

    /// A ramp that is re-timed in steps sends nothing until its end; here Λ is inverted.
    #[test]
    fn a_slow_ramp_sends_from_its_start() {
        let instants = intended(parsed("0->4/60s"));
        assert_eq!(instants.len(), 120);
        assert_eq!(instants[0], 0);
        // Λ(t) = t²/30.
        assert_eq!(instants[1], 5_477_225_575);
    }
}
