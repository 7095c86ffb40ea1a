//! An answer, read to the end.

use crate::Stages;
use openloop_measurer::{Describe, Details, Verdict};

/// An answer that was read to the end and counted; the rows themselves are not kept.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    pub(crate) stages: Stages,
}

impl Reply {
    /// Where the time of the call went.
    #[must_use]
    pub fn stages(&self) -> &Stages {
        &self.stages
    }
}

impl Describe for Reply {
    fn verdict(&self) -> Verdict {
        Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        self.stages.details(into);
    }
}

/// One row of an answer, as it comes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Row<'a> {
    /// Of a prepared or typed query: values in their own types.
    Typed(&'a tokio_postgres::Row),
    /// Of a simple query: every value is text.
    Simple(&'a tokio_postgres::SimpleQueryRow),
}
