//! Language-model servers that know the truth they served: a scripted stream, and a simulated engine.

mod ask;
mod connection;
mod course;
mod driver;
mod frame;
mod log;
mod metrics;
mod model;
mod server;
mod style;

pub use log::{Stream, StreamEnd};
pub use model::Script;
pub use server::{LlmServer, LlmServerBuilder};
pub use style::{LineEnd, RoleChunk, StreamFault, UsageIn};
