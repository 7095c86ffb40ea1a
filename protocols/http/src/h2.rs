//! HTTP/2: many requests at a time on each connection.

mod connection;
pub(crate) mod pool;

pub(crate) use connection::{Connection, Failure};
