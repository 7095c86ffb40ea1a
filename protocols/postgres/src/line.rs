//! What is known of one connection, and the requests over it.

use crate::request::{Asked, Step};
use crate::{PostgresErrorKind, Request, Row, Stages, Statement};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use openloop_net::Stamps;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_postgres::{Client, RowStream, SimpleQueryMessage, SimpleQueryStream};

/// The half of a connection that takes requests, and the statements that are prepared on it.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) client: Client,
    prepared: Mutex<Vec<Prepared>>,
}

type Prepared = (Statement, tokio_postgres::Statement);

/// The course of one request.
struct Course<'a, F> {
    stages: &'a mut Stages,
    on_row: &'a mut F,
    started: Instant,
    /// When all that it needs was prepared, at the start where that was so; `None` where it could not be.
    begun: Option<Instant>,
    first: Option<Instant>,
}

impl Line {
    pub(crate) fn new(client: Client) -> Self {
        Line {
            client,
            prepared: Mutex::new(Vec::new()),
        }
    }

    /// A statement that is prepared on this connection; in a pipeline another call may be preparing one now.
    fn known(&self, statement: &Statement) -> Option<tokio_postgres::Statement> {
        known(&self.prepared.try_lock().ok()?, statement)
    }

    /// Prepares a statement, unless another call has done so meanwhile.
    pub(crate) async fn prepare(
        &self,
        statement: &Statement,
        stages: &mut Stages,
    ) -> Result<tokio_postgres::Statement, tokio_postgres::Error> {
        let since = Instant::now();
        let mut prepared = self.prepared.lock().await;
        let found = match known(&prepared, statement) {
            Some(found) => Ok(found),
            None => {
                let (sql, types) = (statement.sql(), statement.types());
                // Boxed, so that a request does not carry the room for what the first alone does.
                let found = Box::pin(self.client.prepare_typed(sql, types)).await;
                found.inspect(|found| prepared.push((statement.clone(), found.clone())))
            }
        };
        let taken = stages.prepare.get_or_insert(Duration::ZERO);
        *taken += since.elapsed();
        found
    }

    /// One request, its stages filled in as far as it comes; `stamps` are those of its connection.
    pub(crate) async fn run(
        &self,
        request: &Request,
        stages: &mut Stages,
        on_row: &mut (impl FnMut(Row<'_>) + Send),
        stamps: Option<&Stamps>,
    ) -> Result<(), PostgresErrorKind> {
        let started = Instant::now();
        let mut course = Course {
            stages,
            on_row,
            started,
            begun: Some(started),
            first: None,
        };
        let done = match &request.0 {
            Asked::One(step) => course.step(self, step).await,
            // Boxed, so that a request of one statement does not carry the room for it.
            Asked::Transaction(begin, steps) => {
                Box::pin(course.transaction(self, begin, steps)).await
            }
        };
        course.end(stamps);
        Ok(done?)
    }
}

fn known(prepared: &[Prepared], statement: &Statement) -> Option<tokio_postgres::Statement> {
    let found = prepared.iter().find(|(known, _)| known.is(statement));
    found.map(|(_, prepared)| prepared.clone())
}

type Done = Result<(), tokio_postgres::Error>;

impl<F: FnMut(Row<'_>) + Send> Course<'_, F> {
    async fn transaction(&mut self, line: &Line, begin: &str, steps: &[Step]) -> Done {
        // First, so that preparing lies before the stages of the answer and not within them.
        for statement in steps.iter().filter_map(Step::statement) {
            self.prepared(line, statement).await?;
        }
        line.client.batch_execute(begin).await?;
        for step in steps {
            if let Err(error) = self.step(line, step).await {
                // Where even this fails the connection is lost, and the first error says why.
                let _ = line.client.batch_execute("ROLLBACK").await;
                return Err(error);
            }
        }
        line.client.batch_execute("COMMIT").await
    }

    async fn prepared(
        &mut self,
        line: &Line,
        statement: &Statement,
    ) -> Result<tokio_postgres::Statement, tokio_postgres::Error> {
        if let Some(known) = line.known(statement) {
            return Ok(known);
        }
        let prepared = line.prepare(statement, self.stages).await;
        self.begun = prepared.is_ok().then(Instant::now);
        prepared
    }

    async fn step(&mut self, line: &Line, step: &Step) -> Done {
        match step {
            Step::Prepared {
                statement,
                parameters,
            } => {
                let prepared = self.prepared(line, statement).await?;
                self.stages.statements += 1;
                let rows = line.client.query_raw(&prepared, parameters).await?;
                self.rows(rows).await
            }
            Step::Typed { sql, parameters } => {
                self.stages.statements += 1;
                let parameters = parameters.iter().map(|(value, ty)| (value, ty.clone()));
                let rows = line.client.query_typed_raw(sql, parameters).await?;
                self.rows(rows).await
            }
            Step::Simple(sql) => {
                self.stages.statements += 1;
                let messages = line.client.simple_query_raw(sql).await?;
                self.messages(messages).await
            }
            Step::CopyIn { statement, chunks } => {
                let prepared = self.prepared(line, statement).await?;
                self.stages.statements += 1;
                self.copy_in(line, &prepared, chunks).await
            }
        }
    }

    async fn rows(&mut self, rows: RowStream) -> Done {
        let mut rows = pin!(rows);
        let mut count = 0;
        while let Some(row) = rows.next().await {
            let row = row?;
            count += 1;
            self.row(row.raw_size_bytes(), Row::Typed(&row));
        }
        if count == 0 {
            self.stages.affected += rows.rows_affected().unwrap_or(0);
        }
        Ok(())
    }

    async fn messages(&mut self, messages: SimpleQueryStream) -> Done {
        let mut messages = pin!(messages);
        let mut count = 0;
        while let Some(message) = messages.next().await {
            match message? {
                SimpleQueryMessage::Row(row) => {
                    count += 1;
                    let values = (0..row.len()).filter_map(|place| row.get(place));
                    self.row(values.map(str::len).sum(), Row::Simple(&row));
                }
                SimpleQueryMessage::CommandComplete(rows) => {
                    if count == 0 {
                        self.stages.affected += rows;
                    }
                    count = 0;
                }
                _ => {}
            }
        }
        Ok(())
    }

    async fn copy_in(
        &mut self,
        line: &Line,
        prepared: &tokio_postgres::Statement,
        chunks: &[Bytes],
    ) -> Done {
        let mut sink = pin!(line.client.copy_in(prepared).await?);
        for chunk in chunks {
            self.stages.copied_bytes += chunk.len() as u64;
            sink.send(chunk.clone()).await?;
        }
        self.stages.affected += sink.finish().await?;
        Ok(())
    }

    fn row(&mut self, bytes: usize, row: Row<'_>) {
        self.first.get_or_insert_with(Instant::now);
        self.stages.rows += 1;
        self.stages.bytes += bytes as u64;
        (self.on_row)(row);
    }

    fn end(self, stamps: Option<&Stamps>) {
        let end = Instant::now();
        if let Some(begun) = self.begun {
            let first = self.first.unwrap_or(end);
            self.stages.first_row = Some(first - begun);
            self.stages.all_rows = Some(end - first);
        }
        // Before anything else is read, as it is the stamp of what was read last.
        let received = stamps.and_then(|stamps| stamps.last(end));
        self.stages.received = received.filter(|at| *at >= self.started);
    }
}
