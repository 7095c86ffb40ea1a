//! Language-model servers that batch continuously: what no formula gives, by simulation.
//!
//! | I want … | look at |
//! | --- | --- |
//! | to say what an engine is: memory, batch, the cost of a step | [`EngineConfig`], [`StepCost`], [`Prefill`] |
//! | several of them, and who gets which request | [`ClusterConfig`], [`Layout`], [`Routing`] |
//! | to say what is asked | [`Request`] |
//! | to run it all and look at the result | [`Cluster::run`], [`Outcome`], [`Completion`] |
//! | to go step by step, on a clock of my own | [`Cluster::submit`], [`Cluster::next_event`], [`Cluster::advance`] |
//! | what an engine is doing | [`Cluster::engines`], [`EngineReport`] |
//!
//! | word | meaning |
//! | --- | --- |
//! | step | one pass through the model, for all sequences of the batch; sequences join and leave between steps |
//! | prefill | computing the keys and values of the prompt; its last pass gives the first token |
//! | decode | one token of each sequence per step |
//! | block | room for the keys and values of so many tokens; a sequence holds whole blocks |
//! | preemption | a sequence loses its blocks to those that came before it, and starts again when there is room |
//! | prefix cache | full blocks stay until their room is needed, and later prompts that begin alike use them |
//!
//! Time is virtual, from the start of the simulation. Nothing is random: the same requests give the same outcome. What
//! is modelled is vLLM's scheduler (first come first served, recomputing preemption, least recently used blocks evicted
//! first). Not modelled: several sequences of one prompt, speculation, swapping to the host, and a prefill's attention,
//! which grows with the square of the prompt.
//!
//! ```
//! use openloop_capacity::batching::{Cluster, ClusterConfig, EngineConfig, Request, StepCost};
//! use std::time::Duration;
//!
//! // 10 ms a step, 50 µs more for each token of a prompt.
//! let cost = StepCost { base: 0.010, per_prompt_token: 50e-6, ..StepCost::default() };
//! let engine = EngineConfig { cost, ..EngineConfig::default() };
//! let mut cluster = Cluster::new(ClusterConfig::single(engine))?;
//! let outcome = cluster.run([(Duration::ZERO, Request::new(1, 400, 3))]);
//! let done = &outcome.completions[0];
//! assert_eq!(done.time_to_first_token, Duration::from_millis(30));
//! assert_eq!(done.end_to_end, Duration::from_millis(50));
//! assert_eq!(done.time_per_output_token(), Some(Duration::from_millis(10)));
//! # Ok::<(), openloop_capacity::CapacityError>(())
//! ```

mod blocks;
mod cluster;
mod config;
mod engine;
mod event;
mod link;
mod record;
mod report;
mod request;
mod routing;
mod sequence;

pub use cluster::Cluster;
pub use config::{ClusterConfig, EngineConfig, Layout, Prefill, Routing, StepCost, Transfer};
pub use event::{Event, EventKind};
pub use record::Completion;
pub use report::{EngineReport, Outcome};
pub use request::{Refused, Request};
