//! Which real systems behave like which model.

use super::Model;

/// A class of systems, and the queue that it behaves like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct System {
    /// Of the class.
    pub examples: &'static str,
    /// Its queueing model in Kendall's notation.
    pub model: &'static str,
    /// What serves, and where the others wait.
    pub queue: &'static str,
    /// What it runs out of.
    pub limit: &'static str,
    /// What goes wrong first.
    pub first_failure: &'static str,
    /// What to measure.
    pub measure: &'static str,
    /// How to size it.
    pub sizing: &'static str,
}

/// The classes of systems of the method, one a row.
pub const SYSTEMS: [System; 5] = [
    System {
        examples: "Redis, Node.js, an nginx worker",
        model: "M/M/1 (M/G/1)",
        queue: "one thread, first come first served at its sockets",
        limit: "one core",
        first_failure: "head-of-line blocking by one long request (KEYS *)",
        measure: "C_v of the services, P99 over the floor",
        sizing: "utilisation of at most 0.75, then shards",
    },
    System {
        examples: "PostgreSQL or MySQL behind PgBouncer or HikariCP",
        model: "M/M/c/K",
        queue: "c backends, and a bounded queue of clients",
        limit: "connections, locks",
        first_failure: "the timeout of the pool",
        measure: "the wait for a connection, the loss",
        sizing: "connections = rate x P99 of the service",
    },
    System {
        examples: "Go services, Tomcat, Gunicorn",
        model: "G/G/c",
        queue: "c workers behind one queue",
        limit: "cores",
        first_failure: "saturation of the workers, and 503",
        measure: "P99, the probability of waiting (Erlang C)",
        sizing: "nodes = peak / knee",
    },
    System {
        examples: "vLLM, SGLang, TensorRT-LLM, TGI",
        model: "G/G/1 with iteration scheduling",
        queue: "batches on a GPU, and a queue for admission",
        limit: "blocks of the KV cache, memory bandwidth",
        first_failure: "preemption, and spikes of the time per output token",
        measure: "time to first token, time per output token, use of the KV cache",
        sizing: "sequences = rate x response",
    },
    System {
        examples: "llm-d, clusters of prefill and decode",
        model: "G/G/c (M/G/c of prefill, M/G/c of decode)",
        queue: "pools of workers behind a gateway",
        limit: "transfer of the KV cache, skew",
        first_failure: "clumping on some of the workers",
        measure: "utilisation by pool, hit rate of the prefix cache",
        sizing: "utilisation of at most 0.75 in each pool",
    },
];

impl System {
    /// Whether systems of this class behave like `model`. Pauses are those of their runtime, and none of their queue.
    #[must_use]
    pub fn is_like(&self, model: Model) -> bool {
        match model {
            Model::SingleWorker => self.model == SYSTEMS[0].model,
            Model::BoundedPool { .. } => self.model == SYSTEMS[1].model,
            Model::Workers { .. } => [SYSTEMS[2].model, SYSTEMS[4].model].contains(&self.model),
            Model::Batching => self.model == SYSTEMS[3].model,
            Model::Pauses | Model::Unsure => false,
        }
    }
}
