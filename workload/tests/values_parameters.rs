//! Parameters of every sort: an error or a right law, never a panic, never a value that is none.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::values::{
    Clamped, Empirical, Exponential, Fixed, Gamma, HyperExponential, LogNormal, Pareto, Sequence,
    Uniform,
};
use openloop_workload::{Values, ValuesError};
use proptest::prelude::*;

/// Numbers that a user may give, and those that only a mistake gives.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.001_f64..1000.0,
        2 => (-35.0_f64..35.0).prop_map(|power| 10_f64.powf(power)),
        1 => any::<f64>(),
        1 => prop::sample::select(vec![
            0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 1e30, 1e-30,
            1e-6, 1000.0, 1.0 + f64::EPSILON, 0.5, 0.99,
        ]),
    ]
}

/// What every law must keep, whatever its parameters.
fn check(values: &Values) -> Result<(), TestCaseError> {
    let (mean, cv) = (values.mean(), values.cv());
    prop_assert!(mean.is_finite() && mean >= 0.0, "mean {mean} of {values}");
    prop_assert!(cv.is_finite() && cv >= 0.0, "C_v {cv} of {values}");
    let mut last = 0.0;
    for q in [0.0, 1e-9, 0.1, 0.5, 0.9, 0.999, 1.0] {
        let x = values.quantile(q);
        prop_assert!(x >= last, "quantile {q} of {values}: {x} after {last}");
        prop_assert!((0.0..=1.0).contains(&values.cdf(x)), "{values}");
        last = x;
    }
    for seq in 0..20 {
        let x = values.value(1, seq);
        prop_assert!(x.is_finite() && x.is_sign_positive(), "{x} of {values}");
        prop_assert!(
            x >= values.quantile(0.0) && x <= values.quantile(1.0),
            "{x} of {values}"
        );
    }
    let text = values.to_string();
    prop_assert_eq!(&text.parse::<Values>().unwrap(), values, "{}", text);
    let json = serde_json::to_string(values).unwrap();
    prop_assert_eq!(
        &serde_json::from_str::<Values>(&json).unwrap(),
        values,
        "{}",
        json
    );
    Ok(())
}

/// A law, or an error that says which number was wrong.
fn check_if_any(made: Result<Values, ValuesError>) -> Result<Option<Values>, TestCaseError> {
    match made {
        Ok(values) => {
            check(&values)?;
            Ok(Some(values))
        }
        Err(error) => {
            prop_assert!(
                error.to_string().contains(": give") || error.to_string().contains("write"),
                "{error}"
            );
            Ok(None)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn laws_of_any_parameters_are_right_or_refused(a in number(), b in number(), c in number()) {
        check_if_any(Fixed::new(a).map(Values::Fixed))?;
        check_if_any(Exponential::new(a).map(Values::Exponential))?;
        check_if_any(Uniform::new(a, b).map(Values::Uniform))?;
        check_if_any(LogNormal::new(a, b).map(Values::LogNormal))?;
        check_if_any(Gamma::new(a, b).map(Values::Gamma))?;
        check_if_any(HyperExponential::new(a, b).map(Values::HyperExponential))?;
        check_if_any(Pareto::new(a, b, c).map(Values::Pareto))?;
        check_if_any(Empirical::new([a, b, c]).map(Values::Empirical))?;
        check_if_any(Sequence::new([a, b, c]).map(Values::Sequence))?;
    }

    #[test]
    fn bounds_of_any_size_are_right_or_refused(a in number(), b in number(), lo in number(), hi in number()) {
        for law in [
            Fixed::new(a).map(Values::Fixed),
            Uniform::new(a, b).map(Values::Uniform),
            LogNormal::new(a, b).map(Values::LogNormal),
            Gamma::new(a, b).map(Values::Gamma),
            HyperExponential::new(a, b).map(Values::HyperExponential),
            Pareto::new(b, a, 1e30).map(Values::Pareto),
            Empirical::new([a, b]).map(Values::Empirical),
            Sequence::new([a, b]).map(Values::Sequence),
        ].into_iter().flatten() {
            if let Some(held) = check_if_any(Clamped::new(law, lo, hi).map(Values::Clamped))? {
                prop_assert!(held.mean() >= lo && held.mean() <= hi, "mean {} of {held}", held.mean());
            }
        }
    }

    #[test]
    fn two_quantiles_make_their_law_or_are_refused(q in number(), x in number(), p in number(), y in number()) {
        if let Some(values) = check_if_any(LogNormal::from_quantiles((q, x), (p, y)).map(Values::LogNormal))? {
            // Φ⁻¹ moves by 10⁻¹⁶ where its argument does, times σ.
            prop_assert!((values.quantile(q) / x - 1.0).abs() < 1e-9, "{values}");
            prop_assert!((values.quantile(p) / y - 1.0).abs() < 1e-9, "{values}");
        }
    }

    #[test]
    fn no_text_makes_parsing_panic(text in "(fixed|uniform|exponential|lognormal|gamma|pareto|empirical)?:?[a-z0-9=,:.x-]{0,20}") {
        if let Ok(values) = text.parse::<Values>() {
            check(&values)?;
        }
    }
}

#[test]
fn what_is_no_parameter_is_refused_with_its_value() {
    for (text, message) in [
        (
            "fixed:-1",
            "value is -1: give 0, or a number from 1e-30 to 1e30",
        ),
        (
            "exponential:0",
            "mean is 0: give a number from 1e-30 to 1e30",
        ),
        (
            "exponential:nan",
            "mean is NaN: give a number from 1e-30 to 1e30",
        ),
        (
            "lognormal:mean=inf,cv=1",
            "mean is inf: give a number from 1e-30 to 1e30",
        ),
        (
            "lognormal:mean=1,cv=0",
            "cv is 0: give a number from 1e-6 to 1000, or write fixed for values that do not vary",
        ),
        (
            "gamma:mean=1,cv=1001",
            "cv is 1001: give a number from 1e-6 to 1000, or write fixed for values that do not vary",
        ),
        (
            "hyperexponential:mean=1,cv=1",
            "cv is 1: give a number above 1 and up to 1000; write exponential for 1, and lognormal or gamma below",
        ),
        (
            "uniform:3:3",
            "the bounds 3 and 3 hold nothing between them: give a lower one below the upper one, or fixed",
        ),
        (
            "pareto:shape=0,lo=1,hi=2",
            "shape is 0: give a number from 0.001 to 1000, such as 1.1",
        ),
        (
            "exponential:5,max=-1",
            "max is -1: give a number from 1e-30 to 1e30, or none",
        ),
        (
            "empirical:1x0",
            "of no values none can be drawn: give at least one with a count of at least 1",
        ),
    ] {
        assert_eq!(
            text.parse::<Values>().unwrap_err().to_string(),
            message,
            "{text}"
        );
    }
}

#[test]
fn quantiles_that_do_not_rise_together_are_refused() {
    for text in [
        "lognormal:p50=180,p99=180",
        "lognormal:p50=180,p99=90",
        "lognormal:p99=90,p50=180",
        "lognormal:p50=180,p50=190",
        // So close to each other that nothing varies, and so far apart that nothing is typical.
        "lognormal:p50=180,p99=180.0000001",
        "lognormal:p50=1,p51=1e20",
    ] {
        let error = text.parse::<Values>().unwrap_err();
        assert!(
            matches!(error, ValuesError::Quantiles { .. }),
            "{text}: {error}"
        );
    }
    for text in ["lognormal:p0=1,p50=2", "lognormal:p50=1,p100=2"] {
        let error = text.parse::<Values>().unwrap_err().to_string();
        assert!(
            error.starts_with("the probability of a quantile is "),
            "{error}"
        );
    }
}
