//! The HTTP/1.1 connections of a client, and the retry of a request that met a closing one.

use super::{Connection, Failure};
use crate::{Connections, HttpError, HttpErrorKind, Reply, Request, Stages};
use bytes::Bytes;
use openloop_net::{Dialer, Pool};
use tokio::task::JoinSet;

#[derive(Clone, Debug)]
pub(crate) struct Http1 {
    dialer: Dialer,
    pool: Pool<Box<Connection>>,
    /// Connections to open before a run.
    ahead: usize,
    keep: bool,
}

impl Http1 {
    pub(crate) fn new(dialer: Dialer, connections: Connections) -> Self {
        let (size, waiting, ahead, keep) = match connections {
            Connections::Pool { size, waiting } => (size, waiting, size, true),
            Connections::PerRequest => (usize::MAX, 0, 0, false),
            Connections::PerInFlight => (usize::MAX, 0, 1, true),
        };
        Http1 {
            dialer,
            pool: Pool::new(size, waiting),
            ahead,
            keep,
        }
    }

    /// Opens the connections of the pool, or one to see that it can be done.
    pub(crate) async fn prepare(&self) -> Result<(), HttpErrorKind> {
        // The first alone: a target that cannot be reached is then reported once.
        self.open_ahead().await?;
        let mut opening = JoinSet::new();
        for _ in 1..self.ahead {
            let this = self.clone();
            opening.spawn(async move { this.open_ahead().await });
        }
        while let Some(opened) = opening.join_next().await {
            opened.map_err(|error| HttpErrorKind::Client(error.to_string()))??;
        }
        Ok(())
    }

    async fn open_ahead(&self) -> Result<(), HttpErrorKind> {
        let mut lease = self.pool.lease().await?;
        let connection = match lease.take() {
            Some(open) if open.is_ready() => open,
            _ => self.open(&mut Stages::default()).await?,
        };
        if self.keep {
            lease.put(connection);
        }
        Ok(())
    }

    pub(crate) async fn call(
        &self,
        request: &Request,
        on_data: &mut (impl FnMut(&Bytes) + Send),
    ) -> Result<Reply, HttpError> {
        let mut stages = Stages::default();
        self.attempt(request, &mut stages, on_data)
            .await
            .map_err(|kind| HttpError {
                kind,
                stages: Box::new(stages),
            })
    }

    async fn attempt(
        &self,
        request: &Request,
        stages: &mut Stages,
        on_data: &mut (impl FnMut(&Bytes) + Send),
    ) -> Result<Reply, HttpErrorKind> {
        let mut lease = self.pool.lease().await?;
        stages.acquire = lease.waited();
        let mut connection = match lease.take() {
            Some(open) => {
                stages.reused = true;
                open
            }
            None => self.open(stages).await?,
        };
        loop {
            // While the exchange runs the lease is empty: a call that is dropped closes its connection.
            match connection.exchange(request, stages, on_data).await {
                Ok(reply) => {
                    if stages.reused {
                        self.dialer.counts().count_reuse();
                    }
                    connection.settle();
                    if self.keep && connection.is_ready() {
                        lease.put(connection);
                    }
                    return Ok(reply);
                }
                Err(failure) if stages.reused && may_retry(&failure, request) => {
                    drop(connection);
                    stages.reused = false;
                    stages.retries += 1;
                    connection = self.open(stages).await?;
                }
                Err(failure) => return Err(failure.kind),
            }
        }
    }

    /// Boxed, so that a call that needs no new connection does not carry the room for opening one.
    async fn open(&self, stages: &mut Stages) -> Result<Box<Connection>, HttpErrorKind> {
        Box::pin(async {
            let dialed = match self.dialer.dial().await {
                Ok(dialed) => dialed,
                Err(error) => {
                    stages.dial = error.timings;
                    stages.opened += u32::from(error.timings.tls.is_some());
                    return Err(HttpErrorKind::Dial(error.kind));
                }
            };
            stages.dial = dialed.timings;
            stages.opened += 1;
            Ok(Box::new(Connection::handshake(dialed.stream).await?))
        })
        .await
    }
}

/// Whether sending again can do no harm: nothing of the request left, or nothing came back and the method may be
/// repeated by its definition (RFC 9110, section 9.2.2).
fn may_retry(failure: &Failure, request: &Request) -> bool {
    failure.unsent
        || (failure.unanswered
            && request.method().is_idempotent()
            && matches!(
                failure.kind,
                HttpErrorKind::Closed(_) | HttpErrorKind::Reset(_)
            ))
}
