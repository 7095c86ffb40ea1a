//! What an objective can be judged by.

use crate::sweep::Point;
use crate::{Replicas, Run, Stability};

/// What an objective can be judged by: a [`Run`], [`Replicas`] of one, or a [`Point`] of a curve.
pub trait Evidence: sealed::Sealed {
    /// The runs.
    fn runs(&self) -> &[Run];

    /// Whether they agree, where there are several.
    fn stability(&self) -> Option<&Stability>;
}

impl Evidence for Run {
    fn runs(&self) -> &[Run] {
        std::slice::from_ref(self)
    }

    fn stability(&self) -> Option<&Stability> {
        None
    }
}

impl Evidence for Replicas {
    fn runs(&self) -> &[Run] {
        self.runs()
    }

    fn stability(&self) -> Option<&Stability> {
        Some(self.stability())
    }
}

/// The runs that may be believed, if there are any.
impl Evidence for Point {
    fn runs(&self) -> &[Run] {
        match self.runs() {
            [] => self.dismissed(),
            believed => believed,
        }
    }

    fn stability(&self) -> Option<&Stability> {
        self.stability()
    }
}

mod sealed {
    /// Not for other crates: what is judged has to be a run or several.
    pub trait Sealed {}
    impl Sealed for crate::Run {}
    impl Sealed for crate::Replicas {}
    impl Sealed for crate::sweep::Point {}
}
