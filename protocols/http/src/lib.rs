//! HTTP as an operation.
#![forbid(unsafe_code)]

mod builder;
mod client;
mod engine;
mod error;
mod h1;
mod h2;
mod relay;
mod reply;
mod request;
mod stages;
pub mod status;

pub use builder::{BuildError, Builder, Connections, Version};
pub use client::Http;
pub use error::{HttpError, HttpErrorKind};
pub use openloop_net::{SocketCounts, Tls};
pub use reply::Reply;
pub use request::{Request, RequestError};
pub use stages::Stages;
