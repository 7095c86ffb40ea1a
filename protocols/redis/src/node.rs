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
    /// `asking` says before the command that the node was asked for by another one.
    pub(crate) async fn call(
        &self,
        commands: &Commands,
        asking: bool,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        let value = self.exchange(commands, asking, stages).await?;
        let Commands::Scripted(_, script) = commands else {
            return Ok(value);
        };
        if !is_unknown_script(&value) {
            return Ok(value);
        }
        stages.scripts_loaded += 1;
        let load = Commands::One(script.load());
        let loaded = self.exchange(&load, false, stages).await?;
        if error_in(&loaded).is_some() {
            return Ok(loaded);
        }
        self.exchange(commands, asking, stages).await
    }

    async fn exchange(
        &self,
        commands: &Commands,
        asking: bool,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        let Some(command) = commands.single().filter(|_| asking) else {
            return self.send(commands, stages).await;
        };
        let mut both = redis::pipe();
        both.cmd("ASKING").add_command(command.clone());
        match self.send(&Commands::Several(both), stages).await? {
            Value::Array(mut replies) => Ok(replies.pop().unwrap_or(Value::Nil)),
            other => Ok(other),
        }
    }

    async fn send(
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
