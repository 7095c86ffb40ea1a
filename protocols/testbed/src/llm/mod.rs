//! Language-model servers that know the truth they served: a scripted stream, and a simulated engine.

mod ask;
mod connection;
mod driver;
mod frame;
mod log;
mod metrics;
mod model;
mod open;
mod server;
mod style;
mod time;

pub use log::{Stream, StreamEnd};
pub use model::Script;
pub use server::{LlmServer, LlmServerBuilder};
pub use style::{LineEnd, RoleChunk, StreamFault, UsageIn};
