//! How many requests are served at once, and how many may wait.

/// The workers behind a server, and its waiting room.
///
/// # Examples
///
/// ```
/// use openloop_testbed::Workers;
///
/// let every_request_on_its_own = Workers::unlimited();
/// let one_fifo_worker = Workers::one();             // M/·/1
/// let small = Workers::servers(4).waiting(16);      // M/·/4/20: the 21st is refused with a 503
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workers {
    pub(crate) servers: usize,
    pub(crate) waiting: usize,
}

impl Workers {
    /// Every request is served on its own: none waits.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self::servers(usize::MAX)
    }

    /// One worker, first come, first served, with a waiting room without limit.
    #[must_use]
    pub const fn one() -> Self {
        Self::servers(1)
    }

    /// `count` workers with one common queue, first come, first served; 0 serves nothing, ever.
    #[must_use]
    pub const fn servers(count: usize) -> Self {
        Self {
            servers: count,
            waiting: usize::MAX,
        }
    }

    /// Lets at most `places` requests wait; one that finds no place is answered 503 at once.
    #[must_use]
    pub const fn waiting(self, places: usize) -> Self {
        Self {
            waiting: places,
            ..self
        }
    }
}
