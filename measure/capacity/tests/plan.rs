//! A plan says what follows from what was measured, and what does not.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::Plan;
use openloop_capacity::plan::{Figures, KvFigures, Quantity, Unit};
use openloop_capacity::sizing::KvShape;

/// Llama 3.1 8B in bf16: 128 KiB a token.
const SHAPE: KvShape = KvShape {
    layers: 32,
    kv_heads: 8,
    head_dimension: 128,
    bits: 16,
};

/// 50/s of 4 s each, of up to 4300 tokens.
fn language_model() -> Figures {
    Figures {
        knee: Some(14.0),
        highest_rate: Some(20.0),
        floor: Some(2.0),
        mean_response: Some(4.0),
        kv: Some(KvFigures {
            shape: SHAPE,
            block_tokens: 16,
            sequence_tokens: 4300,
            bytes_per_node: Some(40 << 30),
        }),
        ..Figures::at_peak(50.0)
    }
}

#[track_caller]
fn assert_value(plan: &Plan, quantity: Quantity, expected: f64) {
    let found = plan.value(quantity).unwrap();
    assert!(
        (found - expected).abs() <= 1e-12 * expected,
        "{quantity}: {found}, not {expected}"
    );
}

#[test]
fn a_web_service_is_planned_by_both_rules_and_the_larger_is_taken() {
    let plan = Plan::new(&Figures {
        knee: Some(1400.0),
        highest_rate: Some(2000.0),
        mean_response: Some(0.050),
        service_p90: Some(0.020),
        service_p99: Some(0.040),
        service_p99_9: Some(0.070),
        retention: Some(1.0),
        ..Figures::at_peak(10_000.0)
    })
    .unwrap();
    for (quantity, value) in [
        (Quantity::NodesByKnee, 8.0),
        (Quantity::NodesByHighestRate, 7.0),
        (Quantity::Nodes, 8.0),
        (Quantity::Utilisation, 0.625),
        (Quantity::UtilisationWithoutOne, 10_000.0 / 14_000.0),
        (Quantity::Pool, 400.0),
        (Quantity::PoolPerNode, 50.0),
        (Quantity::UnderWay, 500.0),
        (Quantity::Timeout, 0.070),
    ] {
        assert_value(&plan, quantity, value);
    }
    assert_eq!(plan.missing, []);
    let text = plan.to_string();
    for part in [
        "⌈λ_peak / λ_knee⌉: λ_peak = 10000/s, λ_knee = 1400/s",
        "⌈λ_peak / (0.75 λ_max)⌉: λ_peak = 10000/s, λ_max = 2000/s",
        "decided by: nodes, by the knee",
        "the knee of a node lies at 0.70 of its highest rate",
        "P99.9: P90 = 20 ms, P99.9 = 70 ms, T = 1 s",
        "heavier than an exponential one",
    ] {
        assert!(text.contains(part), "{text}\nlacks {part:?}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 130),
        "{text}"
    );
}

#[test]
fn the_knee_of_a_pool_does_not_decide_alone() {
    // M/M/32 departs from its floor at 0.989 of its highest rate.
    let plan = Plan::new(&Figures {
        knee: Some(989.0),
        highest_rate: Some(1000.0),
        ..Figures::at_peak(9_000.0)
    })
    .unwrap();
    assert_value(&plan, Quantity::NodesByKnee, 10.0);
    assert_value(&plan, Quantity::Nodes, 12.0);
}

#[test]
fn a_pool_of_2000_a_second_and_40_ms_has_80_connections() {
    let plan = Plan::new(&Figures {
        service_p99: Some(0.040),
        ..Figures::at_peak(2000.0)
    })
    .unwrap();
    assert_value(&plan, Quantity::Pool, 80.0);
    assert_eq!(plan.value(Quantity::PoolPerNode), None);
}

#[test]
fn a_language_model_is_planned_by_what_its_sequences_hold() {
    let plan = Plan::new(&language_model()).unwrap();
    assert_value(&plan, Quantity::UnderWay, 200.0);
    assert!((plan.value(Quantity::MoreThanMean).unwrap() - 0.48).abs() < 0.005);
    assert_value(&plan, Quantity::Room, 234.0);
    assert_value(&plan, Quantity::KvBlocks, 234.0 * 269.0);
    assert_value(&plan, Quantity::KvBytes, 234.0 * 269.0 * 16.0 * 131_072.0);
    // 40 GiB hold 76 sequences of 538 MiB: one node more than the rules for the rate would do for this cache.
    assert_value(&plan, Quantity::NodesByMemory, 4.0);
    assert_value(&plan, Quantity::Nodes, 4.0);
    assert_value(&plan, Quantity::UtilisationByStretch, 0.5);
    let smaller = KvFigures {
        bytes_per_node: Some(20 << 30),
        ..language_model().kv.unwrap()
    };
    let plan = Plan::new(&Figures {
        kv: Some(smaller),
        ..language_model()
    })
    .unwrap();
    assert_value(&plan, Quantity::Nodes, 7.0);
    assert!(
        plan.to_string().contains("decided by: nodes, by memory"),
        "{plan}"
    );
}

#[test]
fn what_cannot_be_told_is_named_with_what_it_needs() {
    let plan = Plan::new(&Figures::at_peak(100.0)).unwrap();
    assert_eq!(plan.items, []);
    let lacking: Vec<_> = plan
        .missing
        .iter()
        .map(|missing| missing.quantity)
        .collect();
    assert_eq!(
        lacking,
        [
            Quantity::NodesByKnee,
            Quantity::NodesByHighestRate,
            Quantity::Nodes,
            Quantity::Pool,
            Quantity::UnderWay,
            Quantity::Timeout
        ]
    );
    let text = plan.to_string();
    assert!(
        text.contains("needs λ_knee, from a sweep of one node"),
        "{text}"
    );
}

#[test]
fn one_rule_alone_is_said_to_be_alone() {
    let plan = Plan::new(&Figures {
        knee: Some(30.0),
        ..Figures::at_peak(100.0)
    })
    .unwrap();
    assert_value(&plan, Quantity::Nodes, 4.0);
    assert!(plan.to_string().contains("one rule alone"), "{plan}");
    assert_eq!(plan.value(Quantity::Utilisation), None);
}

#[test]
fn a_timeout_says_which_it_is_and_why() {
    let timeout = |p99_9, retention| {
        let figures = Figures {
            service_p90: Some(0.1),
            service_p99_9: p99_9,
            retention,
            ..Figures::at_peak(1.0)
        };
        let plan = Plan::new(&figures).unwrap();
        let found = plan
            .items
            .iter()
            .find(|item| item.quantity == Quantity::Timeout);
        let item = found.unwrap();
        assert_eq!(item.unit, Unit::Seconds);
        (item.value, item.formula.clone(), item.why.clone())
    };
    for (p99_9, retention, value, formula, why) in [
        (None, Some(1.0), 0.1 * 3.0, "3 P90", "not known"),
        (Some(0.2), Some(1.0), 0.1 * 3.0, "3 P90", "no heavier"),
        (Some(0.5), Some(1.0), 0.5, "P99.9", "heavier"),
        (Some(0.5), Some(0.2), 0.2, "T", "in vain"),
        (None, None, 0.1 * 3.0, "3 P90", "queue retention"),
    ] {
        let found = timeout(p99_9, retention);
        assert!(
            (found.0 - value).abs() < 1e-15 && found.1 == formula,
            "{found:?}"
        );
        assert!(found.2.contains(why), "{found:?}");
    }
}

#[test]
fn figures_that_cannot_be_are_refused() {
    let refused = |figures: Figures, part: &str| {
        let text = Plan::new(&figures).unwrap_err().to_string();
        assert!(text.contains(part), "{text:?} lacks {part:?}");
    };
    let peak = || Figures::at_peak(50.0);
    refused(Figures::at_peak(-1.0), "the peak rate is -1");
    refused(
        Figures {
            knee: Some(3.0),
            highest_rate: Some(2.0),
            ..peak()
        },
        "knee, 3",
    );
    refused(
        Figures {
            knee: Some(0.0),
            ..peak()
        },
        "the rate at the knee is 0",
    );
    refused(
        Figures {
            highest_rate: Some(f64::NAN),
            ..peak()
        },
        "the highest rate",
    );
    refused(
        Figures {
            mean_response: Some(f64::INFINITY),
            ..peak()
        },
        "the mean response is inf",
    );
    refused(
        Figures {
            service_p99: Some(-0.1),
            ..peak()
        },
        "P99 of the service",
    );
    refused(
        Figures {
            service_p90: Some(0.2),
            service_p99_9: Some(0.1),
            ..peak()
        },
        "one histogram",
    );
    let tight = KvFigures {
        bytes_per_node: Some(1 << 20),
        ..language_model().kv.unwrap()
    };
    refused(
        Figures {
            kv: Some(tight),
            ..language_model()
        },
        "the bytes of one sequence",
    );
}

#[test]
fn a_response_below_its_floor_by_chance_is_no_load_at_all() {
    let figures = Figures {
        floor: Some(0.010),
        mean_response: Some(0.0099),
        ..Figures::at_peak(1.0)
    };
    let plan = Plan::new(&figures).unwrap();
    assert_eq!(plan.value(Quantity::UtilisationByStretch), Some(0.0));
}

#[test]
fn the_round_trip_is_no_part_of_the_stretch() {
    // An idle service of 2 ms, 10 ms away.
    let figures = Figures {
        floor: Some(0.002),
        round_trip: Some(0.010),
        mean_response: Some(0.012),
        ..Figures::at_peak(1.0)
    };
    let plan = Plan::new(&figures).unwrap();
    let idle = plan.value(Quantity::UtilisationByStretch).unwrap();
    assert!(idle.abs() < 1e-12, "{plan}");
    assert!(
        plan.to_string()
            .contains("1 − S/(W − RTT): S = 2 ms, W = 12 ms, RTT = 10 ms"),
        "{plan}"
    );
    // Twice as long at the service itself.
    let busy = Figures {
        mean_response: Some(0.014),
        ..figures
    };
    let busy = Plan::new(&busy).unwrap();
    let busy = busy.value(Quantity::UtilisationByStretch).unwrap();
    assert!((busy - 0.5).abs() < 1e-12, "{busy}");
}
