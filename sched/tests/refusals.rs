//! What is refused, with the reason.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::time::Duration;

use openloop_sched::{
    Arrivals, ArrivalsError, Bursts, CoefficientOfVariationError, Offset, ParseBurstsError,
    ParseProfileError, Profile, ProfileError, Rate, RateError, Recorded, RecordedError, Schedule,
    ShardError,
};

const SECOND: Duration = Duration::from_secs(1);

fn rate(per_second: f64) -> Rate {
    Rate::per_second(per_second).unwrap()
}

#[test]
fn rates_that_cannot_be() {
    assert!(matches!(
        Rate::per_second(f64::NAN),
        Err(RateError::NotFinite(_))
    ));
    assert_eq!(Rate::per_second(-0.5), Err(RateError::Negative(-0.5)));
    assert_eq!(Rate::per_second(2e10), Err(RateError::TooHigh(2e10)));
    assert_eq!(Rate::per_second(1e-10), Err(RateError::TooLow(1e-10)));
    assert_eq!(
        "fast".parse::<Rate>(),
        Err(RateError::NotANumber("fast".into()))
    );
    assert!("1/s/s".parse::<Rate>().is_err());
}

#[test]
fn profiles_that_cannot_be() {
    let zero = Duration::ZERO;
    assert_eq!(Profile::step(&[]), Err(ProfileError::Empty));
    assert_eq!(
        Profile::step(&[(rate(1.0), SECOND), (rate(2.0), zero)]),
        Err(ProfileError::ZeroLength { piece: 1 })
    );
    assert_eq!(
        Profile::sine(rate(1.0), rate(2.0), SECOND, SECOND),
        Err(ProfileError::AmplitudeAboveMean {
            amplitude: rate(2.0),
            mean: rate(1.0)
        })
    );
    assert_eq!(
        Profile::sine(rate(1.0), rate(1.0), zero, SECOND),
        Err(ProfileError::ZeroPeriod)
    );
    assert_eq!(
        Profile::sine(Rate::MAX, Rate::MAX, SECOND, SECOND),
        Err(ProfileError::TooFast { piece: 0 })
    );
    assert_eq!(
        Profile::hold(rate(1.0), Duration::MAX),
        Err(ProfileError::TooLong)
    );
    let centuries = Duration::from_nanos(u64::MAX);
    assert_eq!(
        Profile::hold(Rate::MAX, centuries),
        Err(ProfileError::TooManyArrivals)
    );
    let long = Profile::hold(rate(1.0), centuries).unwrap();
    assert_eq!(long.clone().then(long), Err(ProfileError::TooLong));
    let hold = Profile::hold(rate(1.0), SECOND).unwrap();
    assert_eq!(hold.clone().repeat(0), Err(ProfileError::RepeatZero));
    assert_eq!(
        hold.repeat(u32::MAX),
        Err(ProfileError::TooManyPieces { limit: 1 << 20 })
    );
}

#[test]
fn texts_that_are_no_profile() {
    let parse = |text: &str| text.parse::<Profile>().unwrap_err();
    assert_eq!(parse("100"), ParseProfileError::Piece("100".into()));
    assert_eq!(parse("100/1s,"), ParseProfileError::Piece(String::new()));
    assert!(matches!(parse("x->1/1s"), ParseProfileError::Rate { .. }));
    assert!(matches!(
        parse("1->2->3/1s"),
        ParseProfileError::Rate { .. }
    ));
    assert!(matches!(parse("1/1"), ParseProfileError::Duration { .. }));
    assert_eq!(parse("1/0s"), ProfileError::ZeroLength { piece: 0 }.into());
    assert_eq!(
        parse("-1/10s").to_string(),
        "in \"-1/10s\": a rate cannot be negative, and this one is -1: give arrivals per second, such as 2000"
    );
}

#[test]
fn bursts_that_cannot_be() {
    let profile = Profile::hold(rate(10.0), SECOND).unwrap();
    let bursts = |on, off, factor| {
        profile.clone().bursts(
            Bursts {
                on: Duration::from_millis(on),
                off: Duration::from_millis(off),
                factor,
            },
            1,
        )
    };
    assert!(bursts(100, 900, 10.0).is_ok());
    assert_eq!(
        bursts(100, 900, 10.5),
        Err(ProfileError::BurstFactorTooHigh {
            factor: 10.5,
            limit: 10.0
        })
    );
    assert_eq!(bursts(100, 900, 0.5), Err(ProfileError::BurstFactor(0.5)));
    assert!(matches!(
        bursts(1, 1, f64::NAN),
        Err(ProfileError::BurstFactor(_))
    ));
    assert!(matches!(
        bursts(0, 1, 1.0),
        Err(ProfileError::ZeroDwell { .. })
    ));
    assert_eq!(
        "100ms,900ms,5".parse(),
        Ok(Bursts {
            on: Duration::from_millis(100),
            off: Duration::from_millis(900),
            factor: 5.0
        })
    );
    assert_eq!(
        "1s,2s".parse::<Bursts>(),
        Err(ParseBurstsError::Form("1s,2s".into()))
    );
    assert!(matches!(
        "1,2s,3".parse::<Bursts>(),
        Err(ParseBurstsError::Duration(_))
    ));
}

#[test]
fn arrivals_that_cannot_be() {
    assert_eq!(
        "uniform".parse::<Arrivals>(),
        Err(ArrivalsError::Unknown("uniform".into()))
    );
    assert_eq!(
        "gamma".parse::<Arrivals>(),
        Err(ArrivalsError::Unknown("gamma".into()))
    );
    assert_eq!(
        "gamma:x".parse::<Arrivals>(),
        Err(ArrivalsError::Unknown("gamma:x".into()))
    );
    for cv in [0.0, -1.0, f64::INFINITY, 1e-7] {
        assert_eq!(Arrivals::gamma(cv), Err(CoefficientOfVariationError(cv)));
    }
    assert!(Arrivals::gamma(f64::NAN).is_err());
    for text in ["constant", "poisson", "gamma:0.5"] {
        assert_eq!(text.parse::<Arrivals>().unwrap().to_string(), text);
    }
}

#[test]
fn shards_that_cannot_be() {
    let schedule = Schedule::new("1/1s".parse().unwrap(), Arrivals::Constant, 1);
    let error = |index, count| schedule.clone().shard(index, count).unwrap_err();
    assert_eq!(error(0, 0), ShardError::NoShards);
    assert_eq!(error(3, 3), ShardError::Index { index: 3, count: 3 });
    let half = schedule.clone().shard(0, 1 << 63).unwrap();
    let error = half.shard(0, 4).unwrap_err();
    assert_eq!(
        error,
        ShardError::TooMany {
            outer: 1 << 63,
            inner: 4
        }
    );
}

#[test]
fn traces_are_read_scaled_and_checked() {
    let read = |text: &str, scale| Recorded::read(text.as_bytes(), scale);
    let nanos = |trace: &Recorded| {
        trace
            .offsets()
            .iter()
            .map(|o| o.as_nanos())
            .collect::<Vec<_>>()
    };

    let trace = read(
        "# a trace\noffset,kind\n0,GET\n# a comment\n\n0.25,PUT\n 1.000000345 ,GET\r\n1.000000345\n",
        1.0,
    )
    .unwrap();
    assert_eq!(
        nanos(&trace),
        [0, 250_000_000, 1_000_000_345, 1_000_000_345]
    );
    let schedule = Schedule::recorded(trace);
    assert_eq!(schedule.end(), Offset::from_nanos(1_000_000_346));
    assert_eq!(schedule.offered(), 4);
    assert_eq!(
        schedule
            .clone()
            .shard(1, 3)
            .unwrap()
            .map(|t| t.seq)
            .collect::<Vec<_>>(),
        [1]
    );
    assert_eq!(
        nanos(&read("1\n3\n", 0.5).unwrap()),
        [500_000_000, 1_500_000_000]
    );
    assert_eq!(nanos(&read("", 1.0).unwrap()), [0; 0]);

    assert_eq!(
        read("1\nx\n", 1.0),
        Err(RecordedError::Line {
            line: 2,
            text: "x".into()
        })
    );
    assert_eq!(
        read("-1\n", 1.0),
        Err(RecordedError::Line {
            line: 1,
            text: "-1".into()
        })
    );
    assert_eq!(
        read("1e3\n", 1.0),
        Err(RecordedError::Line {
            line: 1,
            text: "1e3".into()
        })
    );
    assert_eq!(
        read("h\n2\n1.9\n", 1.0),
        Err(RecordedError::LineDisorder { line: 3 })
    );
    let second_header = RecordedError::Line {
        line: 2,
        text: "i".into(),
    };
    assert_eq!(read("h\ni\n", 1.0), Err(second_header));
    assert!(matches!(
        Recorded::read(&b"1\n\xff\n"[..], 1.0),
        Err(RecordedError::Read { line: 2, .. })
    ));
    let offsets = vec![Offset::from_nanos(2), Offset::from_nanos(1)];
    assert_eq!(
        Recorded::new(offsets, 1.0),
        Err(RecordedError::Disorder { index: 1 })
    );
    for scale in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(
            Recorded::new(vec![], scale),
            Err(RecordedError::Scale(scale))
        );
    }
    assert_eq!(
        Recorded::new(vec![Offset::MAX], 2.0),
        Err(RecordedError::TooLate { index: 0 })
    );
}
