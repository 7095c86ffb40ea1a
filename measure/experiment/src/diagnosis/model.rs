//! Which queue a service behaves like.

use std::fmt;

/// Which queue a service behaves like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Model {
    /// One worker that serves one at a time.
    SingleWorker,
    /// So many workers that share one queue.
    Workers {
        /// About how many.
        servers: u32,
    },
    /// Workers with a queue of so many places, beyond which it turns away.
    BoundedPool {
        /// About how many workers.
        servers: u32,
        /// About how many may wait.
        places: u32,
    },
    /// A server that takes several at once, the more the more wait.
    Batching,
    /// Whatever its queue is, it stops from time to time, whatever the load.
    Pauses,
    /// The measurements do not tell.
    Unsure,
}

impl Model {
    /// Name in reports: `single_worker`, `workers`, `bounded_pool`, `batching`, `pauses`, `unsure`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Model::SingleWorker => "single_worker",
            Model::Workers { .. } => "workers",
            Model::BoundedPool { .. } => "bounded_pool",
            Model::Batching => "batching",
            Model::Pauses => "pauses",
            Model::Unsure => "unsure",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Model::SingleWorker => f.write_str("a single worker (M/G/1)"),
            Model::Workers { servers } => {
                write!(f, "about {servers} workers behind one queue (G/G/c)")
            }
            Model::BoundedPool { servers, places } => write!(
                f,
                "a pool of about {servers} with about {places} places to wait (M/M/c/K)"
            ),
            Model::Batching => f.write_str("a server that works in batches"),
            Model::Pauses => f.write_str("a service that pauses, whatever the load"),
            Model::Unsure => f.write_str("unsure"),
        }
    }
}
