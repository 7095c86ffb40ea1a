//! Connections of which each carries one request at a time.

use crate::back_off::BackOff;
use crate::engine::Common;
use crate::session::Session;
use crate::{Connections, PostgresErrorKind, Request, Row, Stages};
use openloop_net::{Lease, Pool};
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Connections that are opened at the same time before a run: the server starts a process for each.
const AT_ONCE: usize = 16;

type Place = Lease<Box<Session>>;

#[derive(Clone, Debug)]
pub(crate) struct Sessions {
    common: Arc<Common>,
    pool: Pool<Box<Session>>,
    back_off: Arc<BackOff>,
    /// Connections to open before a run.
    ahead: usize,
    keep: bool,
}

impl Sessions {
    pub(crate) fn new(common: Arc<Common>, connections: Connections, back_off: BackOff) -> Self {
        let (size, waiting, ahead, keep) = match connections {
            Connections::Pool { size, waiting } => (size, waiting, size, true),
            Connections::PerRequest => (usize::MAX, 0, 0, false),
            Connections::PerInFlight => (usize::MAX, 0, 1, true),
        };
        Sessions {
            common,
            pool: Pool::new(size, waiting),
            back_off: Arc::new(back_off),
            ahead,
            keep,
        }
    }

    /// Opens the connections of the pool and prepares what is known, or one to see that it can be done.
    ///
    /// Every place is held until all are open, so that no connection is counted for two.
    pub(crate) async fn prepare(&self) -> Result<(), PostgresErrorKind> {
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
            open.push(opened.map_err(|error| PostgresErrorKind::Client(error.to_string()))??);
        }
    }

    async fn open_ahead(&self, mut lease: Place) -> Result<Place, PostgresErrorKind> {
        let stages = &mut Stages::default();
        let mut session = match resting(&mut lease) {
            Some(session) => session,
            None => Box::new(Session::open(&self.common.opener, stages).await?),
        };
        let (line, drive) = session.halves();
        drive
            .until(async {
                for statement in &self.common.ahead {
                    line.prepare(statement, stages).await?;
                }
                Ok::<_, tokio_postgres::Error>(())
            })
            .await?;
        if self.keep {
            lease.put(session);
        }
        Ok(lease)
    }

    /// One call, its stages filled in as far as it comes.
    pub(crate) async fn call(
        &self,
        request: &Request,
        stages: &mut Stages,
        on_row: &mut (impl FnMut(Row<'_>) + Send),
    ) -> Result<(), PostgresErrorKind> {
        let mut lease = self.pool.lease().await?;
        stages.acquire = lease.waited();
        stages.has_place = true;
        let session = match resting(&mut lease) {
            Some(session) => {
                stages.reused = true;
                self.common.opener.dialer.counts().count_reuse();
                session
            }
            None => self.open(stages).await?,
        };
        let mut held = Held {
            sessions: self,
            inside: Some((session, lease)),
        };
        let Some((session, _)) = &mut held.inside else {
            return Err(PostgresErrorKind::Closed);
        };
        loop {
            match session.exchange(request, stages, on_row).await {
                Err(error) if error.is_retryable() && stages.retries < self.common.retries => {
                    stages.retries += 1;
                }
                Err(error) if request.may_leave_a_transaction() => {
                    held.recover(false);
                    return Err(error);
                }
                done => {
                    held.put_back();
                    return done;
                }
            }
        }
    }

    /// Boxed, so that a call that needs no new connection does not carry the room for opening one.
    async fn open(&self, stages: &mut Stages) -> Result<Box<Session>, PostgresErrorKind> {
        Box::pin(async {
            if !self.keep {
                // What a new connection for each request meets is what is asked.
                return Ok(Box::new(Session::open(&self.common.opener, stages).await?));
            }
            let since = Instant::now();
            let attempt = self.back_off.attempt().await;
            stages.acquire += since.elapsed();
            match Session::open(&self.common.opener, stages).await {
                Ok(session) => {
                    attempt.succeeded();
                    Ok(Box::new(session))
                }
                Err(error) => {
                    attempt.failed();
                    Err(error)
                }
            }
        })
        .await
    }
}

/// The connection that rests in a place, unless the server has closed it meanwhile.
fn resting(lease: &mut Place) -> Option<Box<Session>> {
    let mut session = lease.take()?;
    session.is_alive().then_some(session)
}

/// A connection during its call. Dropped with the call before the answer is whole, it is not given to anybody until
/// the server has been told to cancel and has answered.
struct Held<'a> {
    sessions: &'a Sessions,
    inside: Option<(Box<Session>, Place)>,
}

impl Held<'_> {
    fn put_back(mut self) {
        if let Some((session, mut lease)) = self.inside.take()
            && self.sessions.keep
            && session.was_alive()
        {
            lease.put(session);
        }
    }

    /// Hands the connection, and its place with it, to a task that brings both into a state in which they may be used.
    fn recover(&mut self, cancel: bool) {
        let Some((session, lease)) = self.inside.take() else {
            return;
        };
        // Without a runtime nothing can be sent any more: the connection is closed.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (common, keep) = (Arc::clone(&self.sessions.common), self.sessions.keep);
            runtime.spawn(recover(common, session, lease, cancel, keep));
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.recover(true);
    }
}

async fn recover(
    common: Arc<Common>,
    mut session: Box<Session>,
    mut lease: Place,
    cancel: bool,
    keep: bool,
) {
    let (line, drive) = session.halves();
    let recovered = drive.until(async {
        if cancel {
            common.canceller.cancel(&line.client.cancel_token()).await?;
        }
        if keep {
            // Its answer comes after that of the query before, and no transaction is left open.
            line.client.batch_execute("ROLLBACK").await?;
        }
        Ok::<_, PostgresErrorKind>(())
    });
    let recovered = tokio::time::timeout(common.recovery, recovered).await;
    if matches!(recovered, Ok(Ok(()))) && keep && session.is_alive() {
        lease.put(session);
    }
}
