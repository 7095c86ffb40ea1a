//! What an output means: the part of an outcome that the user's code can say.

/// What a finished future says of itself.
///
/// `Shed`, `Abandoned` and `Unsent` are not here: only the generator can know them (see [`Outcome`](crate::Outcome)).
///
/// The class is a short name in `snake_case` under which the report counts: `"connect_refused"`, `"http_500"`. A
/// class that begins with `client_` says that the generator's own machine failed, and makes the run invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The service did what was asked.
    Ok,
    /// It did not; the class says how.
    Failed(&'static str),
    /// A limit on time ran out.
    TimedOut,
    /// The server refused the work because it has too much of it (429, 503, `RESOURCE_EXHAUSTED`).
    Rejected(&'static str),
}

/// `Ok` for `Ok` and `Failed("error")` for `Err`: the classifier of a plain [`Result`].
///
/// It is never applied by itself: a client that returns `Ok` for a 503 would be counted as a success without
/// anybody having said so.
#[must_use]
pub fn ok_err<T, E>(output: &Result<T, E>) -> Verdict {
    match output {
        Ok(_) => Verdict::Ok,
        Err(_) => Verdict::Failed("error"),
    }
}

/// `Ok` for any output: the classifier of futures that cannot fail.
#[must_use]
pub fn completed<T>(_: &T) -> Verdict {
    Verdict::Ok
}
