//! Which version of HTTP is spoken, and the connections that speak it.

use crate::h1::pool::Http1;
use crate::{Connections, HttpErrorKind, Version};
use openloop_net::Dialer;

/// The connections of a client, once their version is known.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) dialer: Dialer,
    pub(crate) http1: Http1,
}

impl Engine {
    pub(crate) fn new(
        dialer: Dialer,
        connections: Connections,
        _version: Version,
        _is_tls: bool,
    ) -> Self {
        Engine {
            http1: Http1::new(dialer.clone(), connections),
            dialer,
        }
    }

    pub(crate) async fn prepare(&self) -> Result<(), HttpErrorKind> {
        self.http1.prepare().await
    }
}
