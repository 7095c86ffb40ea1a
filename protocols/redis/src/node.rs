//! One server, and the connections to it.

use crate::opener::Opener;
use crate::pool::Exclusive;
use crate::reply::error_in;
use crate::request::Commands;
use crate::shared::Shared;
use crate::{Connections, RedisErrorKind, Stages};
use openloop_net::Dialer;
use redis::{RedisConnectionInfo, ServerErrorKind, Value};
use std::sync::Arc;

/// One server.
#[derive(Debug)]
pub(crate) struct Node {
    lines: Lines,
}

#[derive(Debug)]
enum Lines {
    Exclusive(Exclusive),
    Shared(Shared),
}

impl Node {
    pub(crate) fn new(
        dialer: Dialer,
        settings: RedisConnectionInfo,
        connections: Connections,
    ) -> Self {
        let opener = Arc::new(Opener::new(dialer, settings));
        let lines = match connections {
            Connections::Pool { size, waiting } => {
                Lines::Exclusive(Exclusive::pooled(opener, size, waiting))
            }
            Connections::Pipelined {
                size,
                depth,
                waiting,
            } => Lines::Shared(Shared::new(opener, size, depth, waiting)),
            Connections::PerRequest => Lines::Exclusive(Exclusive::without_limit(opener, false)),
            Connections::PerInFlight => Lines::Exclusive(Exclusive::without_limit(opener, true)),
        };
        Node { lines }
    }

    pub(crate) async fn prepare(&self) -> Result<(), RedisErrorKind> {
        match &self.lines {
            Lines::Exclusive(exclusive) => exclusive.prepare().await,
            Lines::Shared(shared) => shared.prepare().await,
        }
    }

    /// One call, its stages filled in as far as it comes. A script that the server does not know is sent to it.
    pub(crate) async fn call(
        &self,
        commands: &Commands,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        let value = self.exchange(commands, stages).await?;
        let Commands::Scripted(_, script) = commands else {
            return Ok(value);
        };
        if !is_unknown_script(&value) {
            return Ok(value);
        }
        stages.scripts_loaded += 1;
        let loaded = self.exchange(&Commands::One(script.load()), stages).await?;
        if error_in(&loaded).is_some() {
            return Ok(loaded);
        }
        self.exchange(commands, stages).await
    }

    /// The same without a look at what came.
    pub(crate) async fn exchange(
        &self,
        commands: &Commands,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        match &self.lines {
            Lines::Exclusive(exclusive) => exclusive.call(commands, stages).await,
            Lines::Shared(shared) => shared.call(commands, stages).await,
        }
    }
}

fn is_unknown_script(value: &Value) -> bool {
    matches!(value, Value::ServerError(error) if error.kind() == Some(ServerErrorKind::NoScript))
}

/// What shows before a run that a server answers.
pub(crate) fn ping() -> Commands {
    Commands::One(redis::cmd("PING"))
}

/// An error reply to it is the server's refusal to serve.
pub(crate) fn must_answer(value: &Value) -> Result<(), RedisErrorKind> {
    error_in(value).map_or(Ok(()), |error| {
        Err(RedisErrorKind::Refused {
            code: error.code().to_owned(),
            said: error.details().unwrap_or_default().to_owned(),
        })
    })
}
