//! Which version of HTTP is spoken, and the connections that speak it.

use crate::h1::pool::Http1;
use crate::h2::pool::Http2;
use crate::reply::Answer;
use crate::{BodyReader, Connections, HttpError, HttpErrorKind, Reply, Request, Stages, Version};
use openloop_net::{Dialed, Dialer, Stream};
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// The connections of a client.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) dialer: Dialer,
    connections: Connections,
    /// Empty until the server has chosen by ALPN, where it may.
    speaks: OnceCell<Speaks>,
}

#[derive(Debug)]
enum Speaks {
    Http1(Http1),
    Http2(Http2),
}

impl Engine {
    pub(crate) fn new(
        dialer: Dialer,
        connections: Connections,
        version: Version,
        is_tls: bool,
    ) -> Self {
        let http1 = || Speaks::Http1(Http1::new(dialer.clone(), connections));
        let speaks = match version {
            Version::Http1 => Some(http1()),
            Version::Http2 => Some(Speaks::Http2(Http2::new(dialer.clone(), connections))),
            Version::Auto if !is_tls || connections == Connections::PerInFlight => Some(http1()),
            Version::Auto => None,
        };
        Engine {
            speaks: OnceCell::new_with(speaks),
            dialer,
            connections,
        }
    }

    pub(crate) async fn prepare(&self) -> Result<(), HttpError> {
        let mut stages = Stages::default();
        let prepared = match self.speaks(&mut stages).await {
            Ok(Speaks::Http1(http1)) => http1.prepare().await,
            Ok(Speaks::Http2(http2)) => http2.prepare().await,
            Err(kind) => Err(kind),
        };
        prepared.map_err(|kind| HttpError {
            kind,
            stages: Box::new(stages),
        })
    }

    pub(crate) async fn call(
        &self,
        request: &Request,
        reader: &mut impl BodyReader,
    ) -> Result<Reply, HttpError> {
        let mut stages = Stages::default();
        let speaks = match self.speaks.get() {
            Some(speaks) => Ok(speaks),
            None => self.speaks(&mut stages).await,
        };
        let answered = match speaks {
            Ok(Speaks::Http1(http1)) => http1.call(request, &mut stages, reader).await,
            Ok(Speaks::Http2(http2)) => http2.call(request, &mut stages, reader).await,
            Err(kind) => Err(kind),
        };
        match answered {
            Ok(Answer { status, headers }) => Ok(Reply {
                status,
                headers,
                stages,
            }),
            Err(kind) => Err(HttpError {
                kind,
                stages: Box::new(stages),
            }),
        }
    }

    /// The version that is spoken. Where it is not known yet, the first to ask opens a connection to learn it, and
    /// all who ask meanwhile wait: that is a wait on our side, which `prepare` takes out of the run.
    async fn speaks(&self, stages: &mut Stages) -> Result<&Speaks, HttpErrorKind> {
        let since = Instant::now();
        let speaks = Box::pin(self.speaks.get_or_try_init(|| self.negotiate())).await;
        stages.acquire = since.elapsed();
        speaks
    }

    async fn negotiate(&self) -> Result<Speaks, HttpErrorKind> {
        let dialed = Stages::default().dial(&self.dialer).await?;
        let (dialer, connections) = (self.dialer.clone(), self.connections);
        if dialed.alpn.as_deref() == Some(b"h2") {
            let http2 = Http2::new(dialer, connections);
            http2.seed(dialed.stream).await?;
            return Ok(Speaks::Http2(http2));
        }
        let http1 = Http1::new(dialer, connections);
        http1.seed(dialed.stream).await?;
        Ok(Speaks::Http1(http1))
    }
}

impl Stages {
    /// Opens a connection and notes what it took.
    pub(crate) async fn dial(&mut self, dialer: &Dialer) -> Result<Dialed, HttpErrorKind> {
        match dialer.dial().await {
            Ok(dialed) => {
                self.dial = dialed.timings;
                self.opened += 1;
                Ok(dialed)
            }
            Err(error) => {
                self.dial = error.timings;
                // Where TLS failed, TCP had been opened.
                self.opened += u32::from(error.timings.tls.is_some());
                Err(HttpErrorKind::Dial(error.kind))
            }
        }
    }
}

/// Under TLS the server must have chosen `wanted`; one that chose nothing speaks HTTP/1.1.
pub(crate) fn check_alpn(
    stream: &Stream,
    chosen: Option<&[u8]>,
    wanted: &'static str,
) -> Result<(), HttpErrorKind> {
    let is_wanted = match (stream, chosen) {
        (Stream::Plain(_), _) => true,
        (Stream::Tls(_), None) => wanted == "http/1.1",
        (Stream::Tls(_), Some(chosen)) => chosen == wanted.as_bytes(),
    };
    if is_wanted {
        return Ok(());
    }
    Err(HttpErrorKind::Alpn {
        wanted,
        chosen: String::from_utf8_lossy(chosen.unwrap_or_default()).into_owned(),
    })
}
