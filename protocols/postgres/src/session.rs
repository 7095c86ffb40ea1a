//! One connection, driven by the task that has leased it.

use crate::line::Line;
use crate::opener::{Driver, Opened, Opener};
use crate::{PostgresErrorKind, Request, Row, Stages};
use openloop_net::{Readiness, Relay, Stamps};
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// An open connection: the half that takes requests, and the half that moves bytes. No task of its own stands behind
/// it: whoever leases it polls both.
pub(crate) struct Session {
    pub(crate) line: Line,
    driving: Driving,
    relay: Arc<Relay>,
    waker: Waker,
    stamps: Stamps,
    readiness: Readiness,
}

/// The driver, dropped once it has ended: that closes the socket.
struct Driving {
    driver: Option<Driver>,
    /// What ended it, where it could not tell the request itself.
    error: Option<tokio_postgres::Error>,
}

impl Driving {
    fn advance(&mut self, cx: &mut Context<'_>) {
        if let Some(driver) = &mut self.driver
            && let Poll::Ready(ended) = Pin::new(driver).poll(cx)
        {
            self.driver = None;
            self.error = ended.err();
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("was_alive", &self.was_alive())
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Opens a connection, its stages filled in as far as it comes.
    pub(crate) async fn open(
        opener: &Opener,
        stages: &mut Stages,
    ) -> Result<Self, PostgresErrorKind> {
        let Opened {
            client,
            driver,
            stamps,
            readiness,
        } = opener.open(stages).await?;
        let relay = Relay::new();
        Ok(Session {
            line: Line::new(client),
            driving: Driving {
                driver: Some(driver),
                error: None,
            },
            waker: Waker::from(Arc::clone(&relay)),
            relay,
            stamps,
            readiness,
        })
    }

    /// Whether the connection can take another request: reads what the server has said meanwhile, its farewell as well.
    pub(crate) fn is_alive(&mut self) -> bool {
        // The driver reads until there is nothing.
        if !self.readiness.is_dry() {
            let mut cx = Context::from_waker(&self.waker);
            self.relay.quietly(|| self.driving.advance(&mut cx));
        }
        self.driving.driver.is_some()
    }

    /// The same, as far as it is known without reading.
    pub(crate) fn was_alive(&self) -> bool {
        self.driving.driver.is_some()
    }

    /// Sends a request and reads its answer to the end.
    pub(crate) async fn exchange(
        &mut self,
        request: &Request,
        stages: &mut Stages,
        on_row: &mut (impl FnMut(Row<'_>) + Send),
    ) -> Result<(), PostgresErrorKind> {
        let stamps = self.stamps.clone();
        let done = {
            let (line, drive) = self.halves();
            // It stays where it is made: each hand that it passed through would copy more than a kilobyte.
            let answer = pin!(line.run(request, stages, on_row, Some(&stamps)));
            drive.until(answer).await
        };
        match (done, &self.driving.error) {
            // The driver's own error says more: the request may have heard no more than that it ended.
            (Err(PostgresErrorKind::Closed), Some(why)) => Err(why.into()),
            (done, _) => done,
        }
    }

    /// The half to ask, and the other one, which has to be driven meanwhile.
    pub(crate) fn halves(&mut self) -> (&Line, Drive<'_>) {
        let drive = Drive {
            driving: &mut self.driving,
            relay: &self.relay,
            waker: &self.waker,
        };
        (&self.line, drive)
    }
}

/// Moves the bytes of a connection.
pub(crate) struct Drive<'a> {
    driving: &'a mut Driving,
    relay: &'a Relay,
    waker: &'a Waker,
}

impl Drive<'_> {
    /// Polls the connection and its user in one task until the user is done.
    pub(crate) async fn until<F: Future>(self, user: F) -> F::Output {
        let advance = |cx: &mut Context<'_>| self.driving.advance(cx);
        self.relay.drive(self.waker, pin!(user), advance).await
    }
}
