//! Opening connections to one server.

use crate::{RedisErrorKind, Stages};
use openloop_net::{Backoff, Dialed, Dialer, Stamps};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, RedisConnectionInfo};
use std::future::Future;
use std::pin::Pin;
use tokio::time::Instant;

/// Commands that may wait on our side for a connection that does not take them; the library's 50 would be a wait that
/// nobody sees. What waits beyond the kernel's buffers is on the wire, for all we know.
const UNBOUNDED: usize = usize::MAX >> 4;

/// Moves the bytes of a connection; nothing moves unless it is polled.
pub(crate) type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connection of the library over a stream of ours, in its parts.
pub(crate) struct Opened {
    pub(crate) sender: MultiplexedConnection,
    pub(crate) driver: Driver,
    pub(crate) stamps: Stamps,
}

/// Opens connections to one server, with back-off where the last attempt failed.
#[derive(Debug)]
pub(crate) struct Opener {
    dialer: Dialer,
    settings: RedisConnectionInfo,
    backoff: Backoff,
}

impl Opener {
    pub(crate) fn new(dialer: Dialer, settings: RedisConnectionInfo) -> Self {
        Opener {
            dialer,
            // One round trip less: the server is told no name that is not asked for.
            settings: settings.set_skip_set_lib_name(),
            backoff: Backoff::default(),
        }
    }

    pub(crate) fn dialer(&self) -> &Dialer {
        &self.dialer
    }

    /// Opens one connection and notes what it took. Boxed, so that a call that needs none does not carry the room.
    pub(crate) fn open<'a>(
        &'a self,
        stages: &'a mut Stages,
    ) -> Pin<Box<dyn Future<Output = Result<Opened, RedisErrorKind>> + Send + 'a>> {
        Box::pin(async move {
            let attempt = self
                .backoff
                .attempt()
                .map_err(|left| RedisErrorKind::BackingOff { left })?;
            let opened = self.try_open(stages).await;
            match &opened {
                Ok(_) => attempt.succeeded(),
                Err(_) => attempt.failed(),
            }
            opened
        })
    }

    async fn try_open(&self, stages: &mut Stages) -> Result<Opened, RedisErrorKind> {
        let Dialed {
            stream, timings, ..
        } = match self.dialer.dial().await {
            Ok(dialed) => dialed,
            Err(error) => {
                stages.dial = error.timings;
                // Where TLS failed, TCP had been opened.
                stages.opened += u32::from(error.timings.tls.is_some());
                return Err(RedisErrorKind::Dial(error.kind));
            }
        };
        stages.dial = timings;
        stages.opened += 1;
        let stamps = stream.stamps();
        // The library's own timeouts, 500 ms for a reply, would cut the tail off: how long a call may take is the
        // measurer's business.
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(None)
            .set_connection_timeout(None)
            .set_pipeline_buffer_size(UNBOUNDED);
        let started = Instant::now();
        let made = MultiplexedConnection::new_with_config(&self.settings, stream, config).await;
        if self.has_setup() {
            stages.setup = Some(started.elapsed());
        }
        let (sender, driver) = made.map_err(|error| RedisErrorKind::of_library(&error))?;
        Ok(Opened {
            sender,
            driver: Box::pin(driver),
            stamps,
        })
    }

    /// Whether anything is said before the first request.
    fn has_setup(&self) -> bool {
        let settings = &self.settings;
        settings.password().is_some()
            || settings.db() != 0
            || settings.protocol() != redis::ProtocolVersion::RESP2
    }
}
