//! HTTP/1.1: one request at a time on each connection.

mod connection;
pub(crate) mod pool;

pub(crate) use connection::{Connection, Failure};
