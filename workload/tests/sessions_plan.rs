//! Plans of sessions: what a seed gives, and what the laws promise.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::time::Duration;

use openloop_workload::sessions::{Sessions, SessionsError};

fn sessions(steps: &str, think: &str) -> Sessions {
    Sessions::new(steps.parse().unwrap(), think.parse().unwrap()).unwrap()
}

#[test]
fn a_session_has_its_steps_and_pauses_whoever_asks_and_in_whatever_order() {
    let plan = sessions("exponential:5", "exponential:2");
    let ask = |session: u64| {
        let steps = plan.steps(9, session);
        let pauses: Vec<_> = (0..steps)
            .map(|step| plan.think(9, session, step))
            .collect();
        (steps, pauses)
    };
    let forwards: Vec<_> = (0..100).map(ask).collect();
    let mut backwards: Vec<_> = (0..100).rev().map(ask).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
    assert!(
        forwards
            .iter()
            .all(|(steps, pauses)| *steps >= 1 && pauses[0].is_zero())
    );
}

#[test]
fn requests_per_session_have_the_mean_that_is_told() {
    for steps in [
        "exponential:5",
        "fixed:1",
        "uniform:lo=1,hi=9",
        "lognormal:mean=3,cv=1",
    ] {
        let plan = sessions(steps, "fixed:1");
        let n = 100_000;
        let drawn: Vec<_> = (0..n)
            .map(|session| f64::from(plan.steps(4, session)))
            .collect();
        let mean = drawn.iter().sum::<f64>() / n as f64;
        let variance = drawn
            .iter()
            .map(|steps| (steps - mean).powi(2))
            .sum::<f64>()
            / n as f64;
        let told = plan.mean_requests_per_session();
        // Four standard errors of the mean; a fixed number has none.
        let tolerance = 4.0 * (variance / n as f64).sqrt() + 1e-9;
        assert!(
            (mean - told).abs() < tolerance,
            "{steps}: {mean}, told {told}"
        );
        assert!((plan.request_rate(10.0) - 10.0 * told).abs() < 1e-9);
        assert!((plan.session_rate(plan.request_rate(10.0)) - 10.0).abs() < 1e-9);
    }
}

#[test]
fn pauses_have_the_law_s_mean_and_are_independent_of_the_steps() {
    let plan = sessions("exponential:5", "exponential:2");
    let (mut sum, mut count, mut products) = (0.0, 0.0, 0.0);
    let mean_steps = plan.mean_requests_per_session();
    for session in 0..50_000 {
        let steps = plan.steps(4, session);
        let first = plan.think(4, session, 1).as_secs_f64();
        products += (f64::from(steps) - mean_steps) * (first - 2.0);
        for step in 1..steps {
            sum += plan.think(4, session, step).as_secs_f64();
            count += 1.0;
        }
    }
    // Exponential: the standard error of the mean is 2/√n.
    let mean: f64 = sum / count;
    assert!((mean - 2.0).abs() < 4.0 * 2.0 / f64::sqrt(count), "{mean}");
    // Standard deviations of 5 and 2, so that a correlation of 0 has a standard error of 1/√50 000.
    let correlation: f64 = products / 50_000.0 / (5.0 * 2.0);
    assert!(
        correlation.abs() < 4.0 / f64::sqrt(50_000.0),
        "{correlation}"
    );
}

#[test]
fn a_session_takes_its_responses_and_its_pauses() {
    let plan = sessions("fixed:3", "fixed:2");
    let session = plan.mean_session(Duration::from_millis(500));
    assert_eq!(session, Duration::from_millis(3 * 500 + 2 * 2000));
    assert_eq!(plan.mean_think(), Duration::from_secs(2));
    assert_eq!(plan.think(1, 5, 1), Duration::from_secs(2));
}

#[test]
fn laws_without_an_end_in_sight_are_refused() {
    let new =
        |steps: &str, think: &str| Sessions::new(steps.parse().unwrap(), think.parse().unwrap());
    assert_eq!(new("fixed:2e7", "fixed:1"), Err(SessionsError::Steps(2e7)));
    assert_eq!(new("fixed:1", "fixed:2e9"), Err(SessionsError::Think(2e9)));
    assert!(new("lognormal:mean=1e6,cv=9", "fixed:1").is_err());
    assert!(new("lognormal:mean=1e6,cv=9,max=1e6", "fixed:1").is_ok());
}

#[test]
fn a_file_holds_sessions_and_never_bad_ones() {
    let plan = sessions("exponential:5", "lognormal:mean=8,cv=1");
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Sessions>(&json).unwrap(), plan);
    for (json, reason) in [
        (r#"{"steps": "fixed:3"}"#, "think"),
        (
            r#"{"steps": "fixed:3", "think": "fixed:1", "thinks": 1}"#,
            "thinks",
        ),
        (r#"{"steps": "fixed:3", "think": "fixed:-1"}"#, "-1"),
        (r#"{"steps": "fixed:2e7", "think": "fixed:1"}"#, "max=1000"),
    ] {
        let error = serde_json::from_str::<Sessions>(json)
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn what_a_seed_gives_stays_what_it_is() {
    let plan = sessions("exponential:5", "exponential:2");
    let steps: Vec<_> = (0..8).map(|session| plan.steps(1, session)).collect();
    let pauses: Vec<_> = (1..5)
        .map(|step| plan.think(1, 0, step).as_nanos())
        .collect();
    assert_eq!(steps, [1, 1, 4, 3, 4, 2, 1, 2]);
    assert_eq!(
        pauses,
        [1_802_235_500, 99_815_172, 3_250_523_008, 172_875_393]
    );
}
