//! One connection, driven by the task that has leased it.

use crate::opener::{Driver, Opened};
use crate::request::Commands;
use crate::{RedisErrorKind, Stages};
use openloop_net::{Relay, Stamps};
use redis::Value;
use redis::aio::MultiplexedConnection;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use tokio::time::Instant;

/// An open connection: the half that takes requests, and the half that moves bytes. No task of its own stands
/// behind it: whoever leases it polls both.
pub(crate) struct Connection {
    sender: MultiplexedConnection,
    driver: Driving,
    relay: Arc<Relay>,
    waker: Waker,
    stamps: Stamps,
}

/// The driver, dropped once it has ended: that closes the socket, and ends whatever waits for an answer.
struct Driving(Option<Driver>);

impl Driving {
    fn advance(&mut self, cx: &mut Context<'_>) {
        if let Some(driver) = &mut self.0
            && driver.as_mut().poll(cx).is_ready()
        {
            self.0 = None;
        }
    }
}

impl Connection {
    pub(crate) fn new(opened: Opened) -> Self {
        let relay = Relay::new();
        Connection {
            sender: opened.sender,
            driver: Driving(Some(opened.driver)),
            waker: Waker::from(Arc::clone(&relay)),
            relay,
            stamps: opened.stamps,
        }
    }

    /// Whether the connection can take a request, as far as this side knows: reads a close that has come meanwhile.
    pub(crate) fn is_open(&mut self) -> bool {
        let mut cx = Context::from_waker(&self.waker);
        self.relay.quietly(|| self.driver.advance(&mut cx));
        self.driver.0.is_some()
    }

    /// The same, as far as it is known without reading.
    pub(crate) fn was_open(&self) -> bool {
        self.driver.0.is_some()
    }

    /// Sends a request and waits for the whole of its reply. A future that is dropped leaves a connection that must not
    /// be used again: the reply would come to another request.
    pub(crate) async fn exchange(
        &mut self,
        commands: &Commands,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        let started = Instant::now();
        let Connection {
            sender,
            driver,
            relay,
            waker,
            stamps,
        } = self;
        let answer = pin!(send(sender, commands));
        let advance = |cx: &mut Context<'_>| driver.advance(cx);
        let answered = relay.drive(waker, answer, advance).await;
        let end = Instant::now();
        *stages.reply.get_or_insert_default() += end - started;
        stages.received = stamps.last(end).filter(|at| *at >= started);
        answered
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("was_open", &self.was_open())
            .finish_non_exhaustive()
    }
}

/// Hands a request to the library and waits for the whole of its reply.
pub(crate) async fn send(
    sender: &mut MultiplexedConnection,
    commands: &Commands,
) -> Result<Value, RedisErrorKind> {
    let answered = match commands {
        Commands::One(command) | Commands::Scripted(command, _) => {
            sender.send_packed_command(command).await
        }
        Commands::Several(pipeline) => sender
            .send_packed_commands(pipeline, 0, pipeline.len())
            .await
            .map(Value::Array),
    };
    answered.map_err(|error| RedisErrorKind::of_library(&error))
}
