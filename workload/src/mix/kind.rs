//! One kind of request.

use crate::Values;

/// One kind of request in a [`Mix`](super::Mix): its name, its weight, and what the user needs to make one.
///
/// ```
/// use openloop_workload::mix::Kind;
///
/// let search = Kind::new("search", 5.0, "/search?q={word}").with_demand("lognormal:mean=40,cv=2".parse()?);
/// assert_eq!(search.name(), "search");
/// # Ok::<(), openloop_workload::ValuesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Kind<T> {
    name: String,
    weight: f64,
    demand: Option<Values>,
    payload: T,
}

impl<T> Kind<T> {
    /// A kind; the mix it goes into checks name and weight.
    ///
    /// The `name` is the label that the results of its requests carry. Weights are relative: 3 and 1 are the same as
    /// 0.75 and 0.25.
    pub fn new(name: impl Into<String>, weight: f64, payload: T) -> Self {
        Kind {
            name: name.into(),
            weight,
            demand: None,
            payload,
        }
    }

    /// The same with the work that one request is expected to bring, in a unit of which the mix uses one alone:
    /// milliseconds of service, tokens, rows.
    #[must_use]
    pub fn with_demand(mut self, demand: Values) -> Self {
        self.demand = Some(demand);
        self
    }

    /// The label that results carry.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The weight as it was given.
    #[must_use]
    pub const fn weight(&self) -> f64 {
        self.weight
    }

    /// The work of one request, if it was given.
    #[must_use]
    pub const fn demand(&self) -> Option<&Values> {
        self.demand.as_ref()
    }

    /// What the user needs to make a request.
    #[must_use]
    pub const fn payload(&self) -> &T {
        &self.payload
    }

    pub(super) fn with_weight(self, weight: f64) -> Self {
        Kind { weight, ..self }
    }

    pub(super) fn try_map<U, E>(
        self,
        map: impl FnOnce(&str, T) -> Result<U, E>,
    ) -> Result<Kind<U>, E> {
        Ok(Kind {
            payload: map(&self.name, self.payload)?,
            name: self.name,
            weight: self.weight,
            demand: self.demand,
        })
    }
}
