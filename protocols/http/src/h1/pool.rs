//! The HTTP/1.1 connections of a client, and the retry of a request that met a closing one.

use super::{Connection, Failure};
use crate::engine::check_alpn;
use crate::reply::Answer;
use crate::{BodyReader, Connections, HttpErrorKind, Request, Stages};
use openloop_net::{Dialed, Dialer, Lease, Pool, Stream};
use tokio::task::JoinSet;

/// Connections that are opened at the same time before a run: fewer than the shortest accept queue in use holds.
const AT_ONCE: usize = 32;

type Place = Lease<Box<Connection>>;

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

    /// Puts a connection that is open already into the pool.
    pub(crate) async fn seed(&self, stream: Stream) -> Result<(), HttpErrorKind> {
        let mut lease = self.pool.lease().await?;
        let connection = Connection::handshake(stream).await?;
        if self.keep {
            lease.put(Box::new(connection));
        }
        Ok(())
    }

    /// Opens the connections of the pool, or one to see that it can be done.
    ///
    /// Every place is held until all are open, so that no connection is counted for two.
    pub(crate) async fn prepare(&self) -> Result<(), HttpErrorKind> {
        // The first alone: a target that cannot be reached is then tried once, not `ahead` times.
        let mut open = vec![self.open_ahead(self.pool.lease().await?).await?];
        let mut opening = JoinSet::new();
        let mut more = self.ahead.saturating_sub(1);
        loop {
            while more > 0 && opening.len() < AT_ONCE {
                more -= 1;
                let (this, lease) = (self.clone(), self.pool.lease().await?);
                opening.spawn(async move { this.open_ahead(lease).await });
            }
            let Some(opened) = opening.join_next().await else {
                return Ok(());
            };
            open.push(opened.map_err(|error| HttpErrorKind::Client(error.to_string()))??);
        }
    }

    async fn open_ahead(&self, mut lease: Place) -> Result<Place, HttpErrorKind> {
        let connection = match lease.take() {
            Some(open) if open.is_ready() => open,
            _ => self.open(&mut Stages::default()).await?,
        };
        if self.keep {
            lease.put(connection);
        }
        Ok(lease)
    }

    /// One call, its stages filled in as far as it comes.
    pub(crate) async fn call(
        &self,
        request: &Request,
        stages: &mut Stages,
        reader: &mut impl BodyReader,
    ) -> Result<Answer, HttpErrorKind> {
        let mut lease = self.pool.lease().await?;
        stages.acquire += lease.waited();
        let mut connection = match lease.take() {
            Some(open) => {
                stages.reused = true;
                open
            }
            None => self.open(stages).await?,
        };
        loop {
            // While the exchange runs the lease is empty: a call that is dropped closes its connection.
            match connection.exchange(request, stages, reader).await {
                Ok(answer) => {
                    if stages.reused {
                        self.dialer.counts().count_reuse();
                    }
                    connection.settle();
                    if self.keep && connection.is_ready() {
                        lease.put(connection);
                    }
                    return Ok(answer);
                }
                Err(failure) if !stages.reused || !may_retry(&failure, request) => {
                    return Err(failure.kind);
                }
                // The failure ends here, so that no call carries the room for one while it opens a connection.
                Err(_) => {}
            }
            drop(connection);
            stages.reused = false;
            stages.retries += 1;
            connection = self.open(stages).await?;
        }
    }

    /// Boxed, so that a call that needs no new connection does not carry the room for opening one.
    async fn open(&self, stages: &mut Stages) -> Result<Box<Connection>, HttpErrorKind> {
        Box::pin(async {
            let Dialed { stream, alpn, .. } = stages.dial(&self.dialer).await?;
            check_alpn(&stream, alpn.as_deref(), "http/1.1")?;
            Ok(Box::new(Connection::handshake(stream).await?))
        })
        .await
    }
}

/// Whether sending again can do no harm: nothing of the request left, or nothing came back and the method may be
/// repeated by its definition (RFC 9110, section 9.2.2).
fn may_retry(failure: &Failure, request: &Request) -> bool {
    failure.unsent
        || (failure.unanswered
            && request.is_repeatable()
            && matches!(
                failure.kind,
                HttpErrorKind::Closed(_) | HttpErrorKind::Reset(_)
            ))
}
