//! Opening a connection that is ready for queries, and asking the server to cancel one.

use crate::{PostgresErrorKind, Stages};
use openloop_net::{DialError, Dialed, Dialer, Readiness, Stamps, Stream};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{CancelToken, Client, Config, Connection, NoTls};

/// Asks for TLS: a length of 8, and the number that stands for the question.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// When the TLS handshake begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// Never.
    Never,
    /// When the server has agreed to it, without which there is no connection.
    Asked,
    /// At once, as PostgreSQL 17 allows.
    Direct,
}

/// The half of a connection that moves bytes.
pub(crate) type Driver = Connection<Stream, NoTlsStream>;

/// An open connection.
pub(crate) struct Opened {
    pub(crate) client: Client,
    pub(crate) driver: Driver,
    pub(crate) stamps: Stamps,
    pub(crate) readiness: Readiness,
}

/// How connections to one server are opened.
#[derive(Clone, Debug)]
pub(crate) struct Opener {
    pub(crate) dialer: Dialer,
    /// Without TLS: the stream that the client library gets has it already.
    pub(crate) config: Config,
    pub(crate) handshake: Handshake,
    /// For the startup, as for TCP and for TLS.
    pub(crate) limit: Option<Duration>,
}

impl Opener {
    /// Opens a connection and notes what it took.
    pub(crate) async fn open(&self, stages: &mut Stages) -> Result<Opened, PostgresErrorKind> {
        let since = Instant::now();
        let opened = self.start(stages).await;
        // The rest is the startup, of which asking for TLS is a part.
        if stages.dial.connect.is_some() {
            stages.startup = Some(since.elapsed().saturating_sub(stages.dial.total()));
        }
        opened
    }

    async fn start(&self, stages: &mut Stages) -> Result<Opened, PostgresErrorKind> {
        let stream = self.stream(stages).await?;
        let (stamps, readiness) = (stream.stamps(), stream.readiness());
        let (client, driver) = self.limited(self.config.connect_raw(stream, NoTls)).await?;
        Ok(Opened {
            client,
            driver,
            stamps,
            readiness,
        })
    }

    /// A stream to the server, under TLS where that is wanted.
    async fn stream(&self, stages: &mut Stages) -> Result<Stream, PostgresErrorKind> {
        let dialed = match self.handshake {
            Handshake::Direct => self.dialer.dial().await,
            _ => self.dialer.dial_tcp().await,
        };
        let mut dialed = stages.note(dialed)?;
        if matches!(self.handshake, Handshake::Never | Handshake::Direct) {
            return Ok(dialed.stream);
        }
        if self.limited(ask_for_tls(&mut dialed.stream)).await? {
            return Ok(stages.note_tls(self.dialer.secure(dialed).await)?.stream);
        }
        Err(PostgresErrorKind::NoTls)
    }

    async fn limited<T, E: Into<PostgresErrorKind>>(
        &self,
        part: impl Future<Output = Result<T, E>>,
    ) -> Result<T, PostgresErrorKind> {
        let Some(limit) = self.limit else {
            return part.await.map_err(Into::into);
        };
        match tokio::time::timeout(limit, part).await {
            Ok(done) => done.map_err(Into::into),
            Err(_) => Err(PostgresErrorKind::StartupTimedOut(limit)),
        }
    }

    /// Asks the server to cancel what runs on the connection of `token`, and waits until it has sent the signal.
    ///
    /// It closes the connection then: a query that is sent later cannot be hit.
    pub(crate) async fn cancel(&self, token: &CancelToken) -> Result<(), PostgresErrorKind> {
        let mut stream = self.stream(&mut Stages::default()).await?;
        token.cancel_query_raw(&mut stream, NoTls).await?;
        let mut rest = [0; 64];
        while stream.read(&mut rest).await? > 0 {}
        Ok(())
    }
}

async fn ask_for_tls(stream: &mut Stream) -> std::io::Result<bool> {
    stream.write_all(&TLS_REQUEST).await?;
    stream.flush().await?;
    Ok(stream.read_u8().await? == b'S')
}

impl Stages {
    fn note(&mut self, dialed: Result<Dialed, DialError>) -> Result<Dialed, PostgresErrorKind> {
        match dialed {
            Ok(dialed) => {
                self.dial = dialed.timings;
                self.opened += 1;
                Ok(dialed)
            }
            Err(error) => {
                self.dial = error.timings;
                // Where TLS failed, TCP had been opened.
                self.opened += u32::from(error.timings.tls.is_some());
                Err(PostgresErrorKind::Dial(error.kind))
            }
        }
    }

    /// The handshake on a connection that was counted before.
    fn note_tls(&mut self, dialed: Result<Dialed, DialError>) -> Result<Dialed, PostgresErrorKind> {
        let opened = self.opened;
        let noted = self.note(dialed);
        self.opened = opened;
        noted
    }
}
