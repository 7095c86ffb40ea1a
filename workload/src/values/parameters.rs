//! The parameters of a law by their names, as text and tables have them.

use super::lognormal::Given;
use super::{
    Exponential, Fixed, Gamma, HyperExponential, Law, LogNormal, Pareto, Uniform, Values,
    ValuesError,
};

/// The name of a law, its parameters in their order, and how it is written.
pub(super) struct Form {
    pub(super) law: &'static str,
    parameters: &'static [&'static str],
    pub(super) usage: &'static str,
}

const FORMS: [Form; 7] = [
    form("fixed", &["value"], "fixed:200"),
    form("uniform", &["lo", "hi"], "uniform:lo=100,hi=300"),
    form("exponential", &["mean"], "exponential:200"),
    form(
        "lognormal",
        &["mean", "cv"],
        "lognormal:mean=200,cv=1.5 or lognormal:p50=180,p99=900",
    ),
    form("gamma", &["mean", "cv"], "gamma:mean=200,cv=0.5"),
    form(
        "pareto",
        &["shape", "lo", "hi"],
        "pareto:shape=1.1,lo=100,hi=1e9",
    ),
    form(
        "hyperexponential",
        &["mean", "cv"],
        "hyperexponential:mean=200,cv=4",
    ),
];

const fn form(law: &'static str, parameters: &'static [&'static str], usage: &'static str) -> Form {
    Form {
        law,
        parameters,
        usage,
    }
}

pub(super) const EMPIRICAL: Form =
    form("empirical", &[], "empirical:100x3,250x1 or empirical:FILE");

pub(super) const SEQUENCE: Form = form("sequence", &[], "sequence:100,250,100");

/// Values that a trace has row by row, in the column of this name.
pub(super) const COLUMN: Form = form("trace", &[], "trace:size");

/// What was given, with its name if it had one; what has been used is taken out.
#[derive(Debug, Default)]
pub(super) struct Parameters(pub(super) Vec<(Option<String>, f64)>);

impl Parameters {
    pub(super) fn take(&mut self, name: &str) -> Option<f64> {
        let at = self
            .0
            .iter()
            .position(|(given, _)| given.as_deref() == Some(name))?;
        Some(self.0.remove(at).1)
    }

    /// Refuses what nothing has taken.
    pub(super) fn finish(self, form: &Form) -> Result<(), ValuesError> {
        match self.0.into_iter().next() {
            None => Ok(()),
            Some((name, value)) => Err(ValuesError::Unexpected {
                law: form.law,
                parameter: name.map_or_else(|| value.to_string(), |name| format!("{name}={value}")),
                usage: form.usage,
            }),
        }
    }

    /// The law of this name with these parameters, bounds included.
    pub(super) fn build(mut self, law: &str) -> Result<Values, ValuesError> {
        let form = FORMS
            .iter()
            .find(|form| form.law == law)
            .ok_or_else(|| ValuesError::Unknown(law.to_owned()))?;
        let mut unnamed = form.parameters.iter();
        for (name, _) in self.0.iter_mut().filter(|(name, _)| name.is_none()) {
            *name = unnamed.next().map(|&name| name.to_owned());
        }
        let bounds = self.bounds();
        let values = match law {
            "fixed" => Values::Fixed(Fixed::new(self.need(form, "value")?)?),
            "uniform" => Values::Uniform(Uniform::new(
                self.need(form, "lo")?,
                self.need(form, "hi")?,
            )?),
            "exponential" => Values::Exponential(Exponential::new(self.need(form, "mean")?)?),
            "lognormal" => Values::LogNormal(match self.quantiles(form)? {
                Some([one, other]) => LogNormal::from_quantiles(one, other)?,
                None => LogNormal::new(self.need(form, "mean")?, self.need(form, "cv")?)?,
            }),
            "gamma" => Values::Gamma(Gamma::new(
                self.need(form, "mean")?,
                self.need(form, "cv")?,
            )?),
            "pareto" => Values::Pareto(Pareto::new(
                self.need(form, "shape")?,
                self.need(form, "lo")?,
                self.need(form, "hi")?,
            )?),
            _ => Values::HyperExponential(HyperExponential::new(
                self.need(form, "mean")?,
                self.need(form, "cv")?,
            )?),
        };
        self.finish(form)?;
        bounds.apply(values)
    }

    pub(super) fn bounds(&mut self) -> Bounds {
        Bounds {
            lo: self.take("min"),
            hi: self.take("max"),
        }
    }

    fn need(&mut self, form: &Form, name: &str) -> Result<f64, ValuesError> {
        self.take(name).ok_or_else(|| ValuesError::Missing {
            law: form.law,
            parameter: name.to_owned(),
            usage: form.usage,
        })
    }

    /// The two parameters that are named as p50 and p99 are; none at all, or an error where there is one alone.
    fn quantiles(&mut self, form: &Form) -> Result<Option<[(f64, f64); 2]>, ValuesError> {
        let mut next = || {
            let quantile = |(name, value): &(Option<String>, f64)| {
                Some((probability(name.as_deref()?)?, *value))
            };
            let (at, found) = self
                .0
                .iter()
                .enumerate()
                .find_map(|(at, given)| Some((at, quantile(given)?)))?;
            self.0.remove(at);
            Some(found)
        };
        match (next(), next()) {
            (None, _) => Ok(None),
            (Some(one), Some(other)) => Ok(Some([one, other])),
            (Some(_), None) => Err(ValuesError::Missing {
                law: form.law,
                parameter: "a second quantile".to_owned(),
                usage: form.usage,
            }),
        }
    }
}

/// What a text or a table says of bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bounds {
    pub(super) lo: Option<f64>,
    pub(super) hi: Option<f64>,
}

impl Bounds {
    pub(super) fn apply(self, values: Values) -> Result<Values, ValuesError> {
        if self == Bounds::default() {
            return Ok(values);
        }
        values.clamped(self.lo.unwrap_or(0.0), self.hi.unwrap_or(f64::INFINITY))
    }

    /// Refuses what no value satisfies, before there is any.
    pub(super) fn check(self) -> Result<(), ValuesError> {
        let any = Values::Fixed(Fixed::new(1.0)?);
        self.apply(any).map(drop)
    }

    pub(super) fn named(self) -> Vec<(String, f64)> {
        let named = |name: &str, bound: Option<f64>| bound.map(|bound| (name.to_owned(), bound));
        [named("min", self.lo), named("max", self.hi)]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// The law within bounds, its bounds, and its name and parameters, which give it back; none for measured ones.
pub(super) fn parameters(values: &Values) -> (&Values, Bounds, &'static str, Vec<(String, f64)>) {
    let (values, bounds) = match values {
        Values::Clamped(clamped) => {
            let bounds = Bounds {
                // Of two bounds that hold nothing off, one stays, so that it is read back as what it is.
                lo: Some(clamped.lo()).filter(|lo| *lo > 0.0 || clamped.hi().is_infinite()),
                hi: Some(clamped.hi()).filter(|hi| hi.is_finite()),
            };
            (clamped.law(), bounds)
        }
        values => (values, Bounds::default()),
    };
    let named = |pairs: &[(&str, f64)]| {
        pairs
            .iter()
            .map(|&(name, value)| (name.to_owned(), value))
            .collect()
    };
    let moments = |mean, cv| named(&[("mean", mean), ("cv", cv)]);
    let (name, parameters) = match values {
        Values::Fixed(law) => ("fixed", named(&[("value", law.mean())])),
        Values::Uniform(law) => ("uniform", named(&[("lo", law.lo()), ("hi", law.hi())])),
        Values::Exponential(law) => ("exponential", named(&[("mean", law.mean())])),
        Values::LogNormal(law) => match law.given() {
            Given::Moments { mean, cv } => ("lognormal", moments(mean, cv)),
            Given::Quantiles(quantiles) => {
                let named = quantiles
                    .into_iter()
                    .map(|(q, value)| (percentile(q), value));
                ("lognormal", named.collect())
            }
        },
        Values::Gamma(law) => ("gamma", moments(law.mean(), law.cv())),
        Values::Pareto(law) => (
            "pareto",
            named(&[("shape", law.shape()), ("lo", law.lo()), ("hi", law.hi())]),
        ),
        Values::HyperExponential(law) => ("hyperexponential", moments(law.mean(), law.cv())),
        Values::Sequence(_) => (SEQUENCE.law, Vec::new()),
        Values::Empirical(_) | Values::Clamped(_) => (EMPIRICAL.law, Vec::new()),
    };
    (values, bounds, name, parameters)
}

/// 0.999 of `p99.9`.
fn probability(name: &str) -> Option<f64> {
    let percent = name.strip_prefix('p')?;
    if !percent.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    // Divided in decimal, so that p99.9 is the number that 0.999 is.
    format!("{percent}e-2").parse().ok()
}

/// `p99.9` of 0.999: the point of the decimal moved by two.
fn percentile(probability: f64) -> String {
    let decimal = probability.to_string();
    let digits = format!("{:0<2}", decimal.trim_start_matches("0."));
    let (whole, part) = digits.split_at(2);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if part.is_empty() { "" } else { "." };
    format!("p{whole}{point}{part}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_named_exactly() {
        for (q, name) in [
            (0.5, "p50"),
            (0.99, "p99"),
            (0.999, "p99.9"),
            (0.07, "p7"),
            (0.001, "p0.1"),
            (0.055, "p5.5"),
        ] {
            assert_eq!(percentile(q), name);
            assert_eq!(probability(name), Some(q));
        }
        for text in ["p", "pop", "p-1", "q50", "p1x", "p1e"] {
            assert_eq!(probability(text), None, "{text}");
        }
    }
}
