//! How an output is counted: by itself, or by a classifier.

use crate::{Details, Verdict};

/// An output that says how it should be counted: implemented by the replies and errors of adapters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how it should be counted",
    note = "implement `Describe` for your own type; for a foreign one attach a classifier, such as `ok_err`"
)]
pub trait Describe {
    /// What the output means.
    fn verdict(&self) -> Verdict;

    /// Inner timings and counts, where the output carries any.
    fn details(&self, into: &mut Details<'_>) {
        let _ = into;
    }
}

impl Describe for () {
    fn verdict(&self) -> Verdict {
        Verdict::Ok
    }
}

impl<T: Describe, E: Describe> Describe for Result<T, E> {
    fn verdict(&self) -> Verdict {
        match self {
            Ok(reply) => reply.verdict(),
            Err(error) => error.verdict(),
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        match self {
            Ok(reply) => reply.details(into),
            Err(error) => error.details(into),
        }
    }
}

impl<T: Describe + ?Sized> Describe for Box<T> {
    fn verdict(&self) -> Verdict {
        (**self).verdict()
    }

    fn details(&self, into: &mut Details<'_>) {
        (**self).details(into);
    }
}

/// Says how outputs of type `O` are counted, for types that are not yours.
///
/// Any `Fn(&O) -> Verdict` is one: [`ok_err`](crate::ok_err), [`completed`](crate::completed), a closure.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot classify the output `{O}`",
    note = "give a `Fn(&{O}) -> Verdict`, such as `ok_err` or `|output| Verdict::Ok`"
)]
pub trait Classify<O: ?Sized> {
    /// What the output means.
    fn verdict(&self, output: &O) -> Verdict;

    /// Inner timings and counts, where the output carries any.
    fn details(&self, output: &O, into: &mut Details<'_>) {
        let _ = (output, into);
    }
}

impl<O: ?Sized, F: Fn(&O) -> Verdict> Classify<O> for F {
    fn verdict(&self, output: &O) -> Verdict {
        self(output)
    }
}

/// The classifier of outputs that [`Describe`] themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Described;

impl<O: Describe> Classify<O> for Described {
    fn verdict(&self, output: &O) -> Verdict {
        output.verdict()
    }

    fn details(&self, output: &O, into: &mut Details<'_>) {
        output.details(into);
    }
}
