//! Connections of which each carries several requests at a time.

use crate::back_off::BackOff;
use crate::engine::Common;
use crate::line::Line;
use crate::opener::Opened;
use crate::{PostgresErrorKind, Request, Row, Stages};
use openloop_net::{Lease, Pool};
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// `size` connections with `depth` places each. A task drives each connection, since nobody has it for himself.
#[derive(Clone, Debug)]
pub(crate) struct Pipelines {
    common: Arc<Common>,
    pool: Pool<Arc<Pipeline>>,
    pipelines: Arc<[Arc<Pipeline>]>,
    back_off: Arc<BackOff>,
}

/// One connection, opened by the first who needs it.
#[derive(Debug, Default)]
struct Pipeline(Mutex<Option<Arc<Live>>>);

#[derive(Debug)]
struct Live {
    line: Line,
    driver: AbortHandle,
}

impl Drop for Live {
    fn drop(&mut self) {
        // It ends by itself when all is answered; a server that never answers would keep it.
        self.driver.abort();
    }
}

impl Pipelines {
    pub(crate) fn new(
        common: Arc<Common>,
        size: usize,
        waiting: usize,
        depth: usize,
        back_off: BackOff,
    ) -> Self {
        let pipelines: Arc<[_]> = (0..size).map(|_| Arc::<Pipeline>::default()).collect();
        let pool = Pool::new(size.saturating_mul(depth), waiting);
        // Places come back in the order in which they are put here: connections take turns.
        let mut places: Vec<_> = (0..size * depth).map_while(|_| pool.try_lease()).collect();
        for (place, pipeline) in places.iter_mut().zip(pipelines.iter().cycle()) {
            place.put(Arc::clone(pipeline));
        }
        drop(places);
        Pipelines {
            common,
            pool,
            pipelines,
            back_off: Arc::new(back_off),
        }
    }

    pub(crate) async fn prepare(&self) -> Result<(), PostgresErrorKind> {
        for pipeline in self.pipelines.iter() {
            let stages = &mut Stages::default();
            let live = self.live(pipeline, stages).await?;
            for statement in &self.common.ahead {
                live.line.prepare(statement, stages).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn call(
        &self,
        request: &Request,
        stages: &mut Stages,
        on_row: &mut (impl FnMut(Row<'_>) + Send),
    ) -> Result<(), PostgresErrorKind> {
        if request.is_transaction() {
            return Err(PostgresErrorKind::TransactionInPipeline);
        }
        let mut lease = self.pool.lease().await?;
        stages.acquire = lease.waited();
        stages.has_place = true;
        let Some(pipeline) = lease.take() else {
            return Err(PostgresErrorKind::Closed);
        };
        let mut place = Place {
            common: &self.common,
            inside: Some((lease, pipeline)),
            asked: None,
        };
        let Some((_, pipeline)) = &place.inside else {
            return Err(PostgresErrorKind::Closed);
        };
        let live = self.live(pipeline, stages).await?;
        place.asked = Some(Arc::clone(&live));
        loop {
            match live.line.run(request, stages, on_row, None).await {
                Err(error) if error.is_retryable() && stages.retries < self.common.retries => {
                    stages.retries += 1;
                }
                done => {
                    place.asked = None;
                    return done;
                }
            }
        }
    }

    /// The connection; opened where there is none, or where it has ended.
    async fn live(
        &self,
        pipeline: &Pipeline,
        stages: &mut Stages,
    ) -> Result<Arc<Live>, PostgresErrorKind> {
        let mut waited = None;
        let mut slot = match pipeline.0.try_lock() {
            Ok(slot) => slot,
            Err(_) => {
                waited = Some(Instant::now());
                pipeline.0.lock().await
            }
        };
        if let Some(since) = waited {
            stages.acquire += since.elapsed();
        }
        if let Some(live) = &*slot
            && !live.line.client.is_closed()
        {
            stages.reused = true;
            self.common.opener.dialer.counts().count_reuse();
            return Ok(Arc::clone(live));
        }
        *slot = None;
        let since = Instant::now();
        let attempt = self.back_off.attempt().await;
        stages.acquire += since.elapsed();
        let Opened { client, driver, .. } = match Box::pin(self.common.opener.open(stages)).await {
            Ok(opened) => opened,
            Err(error) => {
                attempt.failed();
                return Err(error);
            }
        };
        attempt.succeeded();
        let driver = tokio::spawn(async move {
            // What ended it reaches those who wait for answers.
            let _ = driver.await;
        });
        let live = Arc::new(Live {
            line: Line::new(client),
            driver: driver.abort_handle(),
        });
        *slot = Some(Arc::clone(&live));
        Ok(live)
    }
}

/// A place during its call. Dropped with the call before the answer is whole, it is not given to anybody until the
/// server has answered; what runs is not cancelled, as it may be another call's.
struct Place<'a> {
    common: &'a Arc<Common>,
    inside: Option<(Lease<Arc<Pipeline>>, Arc<Pipeline>)>,
    asked: Option<Arc<Live>>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let Some((mut lease, pipeline)) = self.inside.take() else {
            return;
        };
        lease.put(Arc::clone(&pipeline));
        let Some(live) = self.asked.take() else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let limit = self.common.recovery;
            runtime.spawn(async move {
                // Its answer comes after those of all that was asked before.
                let answered = live.line.client.batch_execute("");
                if tokio::time::timeout(limit, answered).await.is_err() {
                    *pipeline.0.lock().await = None;
                }
                drop(lease);
            });
        }
    }
}
