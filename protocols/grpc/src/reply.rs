//! An answer with the status `OK`, read to its end.

use crate::Stages;
use http::HeaderMap;
use openloop_measurer::{Describe, Details, Verdict};
use tonic::metadata::MetadataMap;

/// The part of an answer that is passed up through the layers of a call; the stages stay where they are filled in.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    pub(crate) trailers: HeaderMap,
}

/// An answer with the status `OK`, whose messages were read to the end and counted; they themselves are not kept.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) metadata: MetadataMap,
    pub(crate) trailers: MetadataMap,
    pub(crate) stages: Stages,
}

impl Reply {
    pub(crate) fn new(answer: Answer, stages: Stages) -> Self {
        Reply {
            metadata: MetadataMap::from_headers(answer.headers),
            trailers: MetadataMap::from_headers(answer.trailers),
            stages,
        }
    }

    /// The metadata that came before the messages.
    #[must_use]
    pub fn metadata(&self) -> &MetadataMap {
        &self.metadata
    }

    /// The metadata that came behind them.
    #[must_use]
    pub fn trailers(&self) -> &MetadataMap {
        &self.trailers
    }

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

/// What a call by a generated client gave, and where its time went.
#[derive(Clone, Debug)]
pub struct Called<T> {
    pub(crate) value: T,
    pub(crate) stages: Stages,
}

impl<T> Called<T> {
    /// What the closure returned.
    #[must_use]
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The same, taken out.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }

    /// Where the time of the call went.
    #[must_use]
    pub fn stages(&self) -> &Stages {
        &self.stages
    }
}

impl<T> Describe for Called<T> {
    fn verdict(&self) -> Verdict {
        Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        self.stages.details(into);
    }
}
