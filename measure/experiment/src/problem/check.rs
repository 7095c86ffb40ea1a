//! What can be wrong in a statement, as far as that can be told without the service.

use super::{ProblemError, ProblemStatement, Written};
use openloop_sched::Rate;
use std::collections::BTreeSet;

impl ProblemStatement {
    /// What can be told without the service.
    pub(super) fn check(&self) -> Result<(), ProblemError> {
        let load = &self.load;
        for (first, second, names) in [
            (
                load.rate.is_some(),
                load.profile.is_some(),
                ("load.rate", "load.profile"),
            ),
            (
                load.rate.is_some(),
                load.users.is_some(),
                ("load.rate", "load.users"),
            ),
            (
                load.profile.is_some(),
                load.users.is_some(),
                ("load.profile", "load.users"),
            ),
            (
                load.users.is_some(),
                self.sweep.is_some(),
                ("load.users", "sweep"),
            ),
            (
                load.profile.is_some(),
                self.sweep.is_some(),
                ("load.profile", "sweep"),
            ),
            (
                self.resilience.is_some(),
                self.sweep.is_some(),
                ("resilience", "sweep"),
            ),
            (
                self.sweep
                    .as_ref()
                    .is_some_and(|sweep| !sweep.rates.is_empty()),
                self.sweep.as_ref().is_some_and(|sweep| sweep.find),
                ("sweep.rates", "sweep.find"),
            ),
        ] {
            if first && second {
                return Err(ProblemError::Both(names.0, names.1));
            }
        }
        let shares = [
            ("workload.read_share", self.workload.read_share),
            ("workload.prefix_reuse", self.workload.prefix_reuse),
        ];
        for (field, value) in shares {
            range(field, value, "0 to 1", |share| (0.0..=1.0).contains(&share))?;
        }
        let cv = self.workload.service_cv;
        range("workload.service_cv", cv, "a number from 0 on", |cv| {
            cv.is_finite() && cv >= 0.0
        })?;
        let trials = self.floor.trials.map(|trials| trials as f64);
        range("floor.trials", trials, "0, or 3 to 100", |trials| {
            trials == 0.0 || (3.0..=100.0).contains(&trials)
        })?;
        let requests = self.floor.requests.map(f64::from);
        range("floor.requests", requests, "10 or more", |n| n >= 10.0)?;
        let at_least_one = [
            ("load.users", load.users),
            ("load.max_in_flight", load.max_in_flight),
            (
                "rehearsal.servers",
                self.rehearsal.servers.map(|n| n as usize),
            ),
        ];
        for (field, n) in at_least_one {
            range(field, n.map(|n| n as f64), "1 or more", |n| n >= 1.0)?;
        }
        self.check_rates()?;
        self.check_lists()?;
        self.sizing.check()?;
        if let Some(sweep) = &self.sweep {
            if sweep.rates.is_empty() && !sweep.find {
                return Err(ProblemError::Without("sweep", "sweep.rates or sweep.find"));
            }
            range(
                "sweep.resolution",
                sweep.resolution,
                "0.001 to 0.5",
                |share| (0.001..=0.5).contains(&share),
            )?;
        }
        if let Some(resilience) = &self.resilience {
            if resilience.above.is_none() {
                return Err(ProblemError::Without("resilience", "resilience.above"));
            }
            for (field, value) in [
                ("resilience.serves_still", resilience.serves_still),
                ("resilience.fails_at_most", resilience.fails_at_most),
            ] {
                range(field, value, "0 to 1", |share| (0.0..=1.0).contains(&share))?;
            }
        }
        for (given, with, (field, needed)) in [
            (
                load.on_limit.is_some(),
                load.max_in_flight.is_some(),
                ("load.on_limit", "load.max_in_flight"),
            ),
            (
                load.timeout_from.is_some(),
                load.timeout.is_some(),
                ("load.timeout_from", "load.timeout"),
            ),
            (
                load.session_think.is_some(),
                load.sessions.is_some(),
                ("load.session_think", "load.sessions"),
            ),
        ] {
            if given && !with {
                return Err(ProblemError::Without(field, needed));
            }
        }
        let runs = self.replicas.runs.map(|runs| runs as f64);
        range(
            "replicas.runs",
            runs,
            "1, or an odd number from 3 on",
            |runs| runs % 2.0 == 1.0,
        )
    }
}

impl ProblemStatement {
    /// A rate of 0 sends nothing.
    fn check_rates(&self) -> Result<(), ProblemError> {
        let per_second =
            |rate: &Option<Written<Rate>>| rate.as_deref().map(|rate| rate.as_per_second());
        let (sweep, resilience) = (self.sweep.as_ref(), self.resilience.as_ref());
        let of_list = sweep.iter().flat_map(|sweep| &sweep.rates);
        let of_list = of_list.map(|rate| ("sweep.rates", Some(rate.as_per_second())));
        let single = [
            ("load.rate", per_second(&self.load.rate)),
            ("load.peak", per_second(&self.load.peak)),
            (
                "sweep.up_to",
                sweep.and_then(|sweep| per_second(&sweep.up_to)),
            ),
            (
                "resilience.above",
                resilience.and_then(|resilience| per_second(&resilience.above)),
            ),
        ];
        for (field, rate) in single.into_iter().chain(of_list) {
            range(field, rate, "a rate above 0", |rate| rate > 0.0)?;
        }
        Ok(())
    }

    /// What stands twice in a list says nothing the second time, and mostly was meant to be something else.
    fn check_lists(&self) -> Result<(), ProblemError> {
        let rates = self.sweep.iter().flat_map(|sweep| &sweep.rates);
        let rates = rates.map(|rate| ("sweep.rates", rate.to_string()));
        let modes = self.objective.failure_modes.iter();
        let modes = modes.map(|mode| ("objective.failure_modes", mode.name().to_owned()));
        let events = self.environment.periodic.iter().flatten();
        let names = events
            .clone()
            .map(|periodic| ("environment.periodic", periodic.event.clone()));
        let mut seen = BTreeSet::new();
        for entry in rates.chain(modes).chain(names) {
            if !seen.insert(entry.clone()) {
                return Err(ProblemError::Twice(entry.0, entry.1));
            }
        }
        match events.clone().find(|periodic| periodic.every.is_zero()) {
            Some(periodic) => Err(ProblemError::Always(periodic.event.clone())),
            None => Ok(()),
        }
    }
}

pub(super) fn range(
    field: &'static str,
    value: Option<f64>,
    allowed: &'static str,
    is_allowed: impl Fn(f64) -> bool,
) -> Result<(), ProblemError> {
    match value.filter(|value| !is_allowed(*value)) {
        Some(value) => Err(ProblemError::Range {
            field,
            value,
            allowed,
        }),
        None => Ok(()),
    }
}
