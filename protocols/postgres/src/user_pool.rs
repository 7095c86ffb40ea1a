//! The pool of somebody else, its wait made visible.

use openloop_measurer::{Describe, Details, Operation, Verdict};
use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;
use tokio::time::Instant;

/// A pool of another library as an [`Operation`]: `get` takes a connection from it and `run` uses it. What `get` takes is
/// the stage `acquire`, which such pools do not show for each request.
///
/// What `run` returns says itself how it counts, where it can; for results of [`tokio_postgres`] map the error to
/// [`PostgresErrorKind`](crate::PostgresErrorKind), as here with `deadpool_postgres`:
///
/// ```
/// # async fn run(pool: deadpool_postgres::Pool) {
/// use openloop_measurer::Operation;
/// use openloop_postgres::{PostgresErrorKind, UserPool};
///
/// let operation = UserPool::new(
///     move || {
///         let pool = pool.clone();
///         async move { pool.get().await }
///     },
///     |client, id: i32| async move {
///         let statement = client.prepare_cached("SELECT abalance FROM pgbench_accounts WHERE aid = $1").await?;
///         client.query_one(&statement, &[&id]).await?;
///         Ok::<_, PostgresErrorKind>(())
///     },
/// );
/// let reply = operation.call(4711).await.unwrap();
/// println!("waited {:?} for a connection", reply.acquire);
/// # }
/// ```
pub struct UserPool<G, R, Q> {
    get: G,
    run: R,
    request: PhantomData<fn(Q)>,
}

impl<G, R, Q> std::fmt::Debug for UserPool<G, R, Q> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserPool").finish_non_exhaustive()
    }
}

/// What `run` returned, and how long the connection was waited for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Pooled<T> {
    /// What `run` returned.
    pub output: T,
    /// How long `get` took.
    pub acquire: Duration,
}

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserPoolError<P, E> {
    /// Class `pool_get`: the pool gave no connection.
    #[error("the pool gave no connection: {error}")]
    Get {
        /// What the pool says.
        error: P,
        /// How long `get` took.
        acquire: Duration,
    },
    /// What `run` returned.
    #[error("{error}")]
    Run {
        /// What `run` returned.
        error: E,
        /// How long `get` took.
        acquire: Duration,
    },
}

impl<G, R, Q> UserPool<G, R, Q> {
    /// `get` takes a connection, `run` uses it for one request; the connection goes back when `run` drops it.
    pub fn new<GF, C, P, RF, T, E>(get: G, run: R) -> Self
    where
        G: Fn() -> GF,
        GF: Future<Output = Result<C, P>>,
        R: Fn(C, Q) -> RF,
        RF: Future<Output = Result<T, E>>,
    {
        UserPool {
            get,
            run,
            request: PhantomData,
        }
    }
}

impl<G, GF, C, P, R, RF, Q, T, E> Operation for UserPool<G, R, Q>
where
    G: Fn() -> GF + Send + Sync + 'static,
    GF: Future<Output = Result<C, P>> + Send,
    C: Send,
    P: std::fmt::Display + Send + 'static,
    R: Fn(C, Q) -> RF + Send + Sync + 'static,
    RF: Future<Output = Result<T, E>> + Send,
    Q: Send + 'static,
    T: Describe + Send + 'static,
    E: Describe + Send + 'static,
{
    type Request = Q;
    type Reply = Pooled<T>;
    type Error = UserPoolError<P, E>;

    async fn call(&self, request: Q) -> Result<Pooled<T>, UserPoolError<P, E>> {
        let since = Instant::now();
        let got = (self.get)().await;
        let acquire = since.elapsed();
        let connection = got.map_err(|error| UserPoolError::Get { error, acquire })?;
        match (self.run)(connection, request).await {
            Ok(output) => Ok(Pooled { output, acquire }),
            Err(error) => Err(UserPoolError::Run { error, acquire }),
        }
    }
}

impl<T: Describe> Describe for Pooled<T> {
    fn verdict(&self) -> Verdict {
        self.output.verdict()
    }

    fn details(&self, into: &mut Details<'_>) {
        into.acquire(self.acquire);
        self.output.details(into);
    }
}

impl<P, E: Describe> Describe for UserPoolError<P, E> {
    fn verdict(&self) -> Verdict {
        match self {
            UserPoolError::Get { .. } => Verdict::Failed("pool_get"),
            UserPoolError::Run { error, .. } => error.verdict(),
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        match self {
            UserPoolError::Get { acquire, .. } => into.acquire(*acquire),
            UserPoolError::Run { error, acquire } => {
                into.acquire(*acquire);
                error.details(into);
            }
        }
    }
}
