//! The connections of a client, whatever their kind.

use crate::back_off::BackOff;
use crate::opener::Opener;
use crate::pipeline::Pipelines;
use crate::pool::Sessions;
use crate::{
    Connections, PostgresError, PostgresErrorKind, Reply, Request, Row, Stages, Statement,
};
use std::sync::Arc;
use std::time::Duration;

/// What all connections of a client have in common.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) opener: Opener,
    /// The same with counts of its own: asking to cancel takes a connection that carries no request.
    pub(crate) canceller: Opener,
    /// Prepared before a run.
    pub(crate) ahead: Vec<Statement>,
    pub(crate) retries: u32,
    /// How long a connection may take to be usable again after its call was dropped.
    pub(crate) recovery: Duration,
}

/// The connections of a client.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) common: Arc<Common>,
    lines: Lines,
}

#[derive(Debug)]
enum Lines {
    Sessions(Sessions),
    Pipelines(Pipelines),
}

impl Engine {
    pub(crate) fn new(
        common: Common,
        connections: Connections,
        depth: usize,
        back_off: BackOff,
    ) -> Self {
        let common = Arc::new(common);
        let shared = Arc::clone(&common);
        let lines = match connections {
            Connections::Pool { size, waiting } if depth > 1 => {
                Lines::Pipelines(Pipelines::new(shared, size, waiting, depth, back_off))
            }
            _ => Lines::Sessions(Sessions::new(shared, connections, back_off)),
        };
        Engine { common, lines }
    }

    pub(crate) async fn prepare(&self) -> Result<(), PostgresError> {
        let prepared = match &self.lines {
            Lines::Sessions(sessions) => sessions.prepare().await,
            Lines::Pipelines(pipelines) => pipelines.prepare().await,
        };
        prepared.map_err(|kind| failed(kind, Stages::default()))
    }

    pub(crate) async fn call(
        &self,
        request: &Request,
        on_row: &mut (impl FnMut(Row<'_>) + Send),
    ) -> Result<Reply, PostgresError> {
        let mut stages = Stages::default();
        let done = match &self.lines {
            Lines::Sessions(sessions) => sessions.call(request, &mut stages, on_row).await,
            Lines::Pipelines(pipelines) => pipelines.call(request, &mut stages, on_row).await,
        };
        match done {
            Ok(()) => Ok(Reply { stages }),
            Err(kind) => Err(failed(kind, stages)),
        }
    }
}

pub(crate) fn failed(kind: PostgresErrorKind, stages: Stages) -> PostgresError {
    PostgresError {
        kind,
        stages: Box::new(stages),
    }
}
