//! What must be true after the drain.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

type Check = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send>;

/// The user's own check of the service.
#[derive(Default)]
pub(crate) struct Health(Option<Check>);

impl Health {
    pub(crate) fn set<F, Fut>(&mut self, check: F)
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.0 = Some(Box::new(|| Box::pin(check())));
    }

    pub(crate) async fn check(self) -> Option<Result<(), String>> {
        match self.0 {
            Some(check) => Some(check().await),
            None => None,
        }
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Health").field(&self.0.is_some()).finish()
    }
}

/// What was found after the drain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HealthReport {
    /// Arrivals still unfinished when the drain ended.
    pub abandoned: u64,
    /// Open file descriptors more than before the run, where the platform tells. Connections that a client keeps
    /// open on purpose are among them.
    pub descriptors_left: Option<i64>,
    /// What the user's own check said; `None` without one.
    pub check: Option<Result<(), String>>,
}

impl HealthReport {
    /// Whether nothing is left over and the user's own check, if any, found nothing.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.abandoned == 0
            && self.descriptors_left.is_none_or(|left| left <= 0)
            && self.check.as_ref().is_none_or(Result::is_ok)
    }
}
