//! An answer, its body read to the end.

use crate::{Stages, status};
use http::{HeaderMap, StatusCode};
use openloop_measurer::{Describe, Details, Verdict};

/// The part of an answer that is passed up through the layers of a call; the stages stay where they are filled in.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
}

/// An answer whose body was read to the end and counted; the bytes themselves are not kept.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) stages: Stages,
}

impl Reply {
    /// The status code; [`verdict`](crate::status::verdict) says how each is counted.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers of the answer.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Where the time of the call went.
    #[must_use]
    pub fn stages(&self) -> &Stages {
        &self.stages
    }
}

impl Describe for Reply {
    fn verdict(&self) -> Verdict {
        status::verdict(self.status)
    }

    fn details(&self, into: &mut Details<'_>) {
        self.stages.details(into);
    }
}
