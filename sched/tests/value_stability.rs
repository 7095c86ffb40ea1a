//! The first values of everything random. A change here changes the runs of users: it needs an entry under
//! **Number-breaking** in the changelog.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::time::Duration;

use openloop_sched::{Arrivals, Bursts, Profile, Rate, Schedule, stream};

fn first(arrivals: Arrivals, seed: u64) -> Vec<u64> {
    let profile = Profile::hold(Rate::per_second(1000.0).unwrap(), Duration::from_secs(10));
    Schedule::new(profile.unwrap(), arrivals, seed)
        .take(8)
        .map(|ticket| ticket.intended.as_nanos())
        .collect()
}

#[test]
fn constant() {
    let expected: Vec<u64> = (0..8).map(|k| k * 1_000_000).collect();
    assert_eq!(first(Arrivals::Constant, 1), expected);
    assert_eq!(first(Arrivals::Constant, 2), expected);
}

#[test]
fn poisson() {
    assert_eq!(
        first(Arrivals::Poisson, 1),
        [
            74614, 418480, 1979785, 2112892, 2490438, 2498619, 8994882, 10088695
        ]
    );
    assert_eq!(
        first(Arrivals::Poisson, 2),
        [
            2104196, 3393716, 4793556, 5647692, 6222817, 7524103, 7908430, 9335745
        ]
    );
}

#[test]
fn gamma() {
    assert_eq!(
        first(Arrivals::gamma(0.5).unwrap(), 1),
        [
            1119136, 2131298, 3833718, 4533603, 5852860, 6410581, 7023497, 8077508
        ]
    );
    assert_eq!(
        first(Arrivals::gamma(3.0).unwrap(), 1),
        [
            3207619, 11239587, 13067291, 13067296, 13067297, 13118481, 13118481, 13510587
        ]
    );
}

#[test]
fn bursts() {
    let bursts = Bursts {
        on: Duration::from_millis(100),
        off: Duration::from_millis(900),
        factor: 5.0,
    };
    let profile = Profile::hold(Rate::per_second(10.0).unwrap(), Duration::from_secs(10)).unwrap();
    let profile = profile.bursts(bursts, 1).unwrap();
    let instants: Vec<u64> = Schedule::new(profile.clone(), Arrivals::Constant, 1)
        .take(8)
        .map(|ticket| ticket.intended.as_nanos())
        .collect();
    assert_eq!(
        instants,
        [
            0, 179999999, 359999999, 539999999, 701395193, 721395193, 741395193, 761395193
        ]
    );
    assert_eq!(
        profile.integral(profile.end()).as_units(),
        229850271563257052840
    );
}

#[test]
fn ramp_and_sine_under_poisson() {
    let ramp: Profile = "10->1000/10s".parse().unwrap();
    let rate = |r| Rate::per_second(r).unwrap();
    let second = Duration::from_secs(1);
    let sine = Profile::sine(rate(100.0), rate(90.0), second, 10 * second).unwrap();
    let sample = |profile: Profile| -> Vec<u64> {
        Schedule::new(profile, Arrivals::Poisson, 7)
            .step_by(100)
            .take(6)
            .map(|ticket| ticket.intended.as_nanos())
            .collect()
    };
    assert_eq!(
        sample(ramp),
        [
            35653884, 1349542804, 1838290950, 2346168807, 2784454332, 3127704892
        ]
    );
    assert_eq!(
        sample(sine),
        [
            4146032, 1033347975, 1594756056, 2953200154, 4092669689, 5117706488
        ]
    );
}

#[test]
fn streams() {
    assert_eq!(stream(1, "arrivals"), 9260211835013551446);
    assert_eq!(stream(1, "bursts"), 11505662972082155278);
}
