//! What is asked of a server.

use crate::Value;
use bytes::Bytes;
use std::sync::Arc;
use tokio_postgres::types::Type;

/// SQL that is prepared once on each connection and then executed with parameters. Cloning is cheap.
///
/// ```
/// # use openloop_postgres::Statement;
/// let balance = Statement::new("SELECT abalance FROM pgbench_accounts WHERE aid = $1");
/// let request = balance.with([4711.into()]);
/// ```
#[derive(Clone, Debug)]
pub struct Statement(Arc<Text>);

#[derive(Debug)]
struct Text {
    sql: String,
    types: Vec<Type>,
}

impl Statement {
    /// SQL with places `$1`, `$2`, … for parameters, whose types the server infers.
    pub fn new(sql: impl Into<String>) -> Self {
        Self::typed(sql, [])
    }

    /// The same with the types of the first places given.
    pub fn typed(sql: impl Into<String>, types: impl IntoIterator<Item = Type>) -> Self {
        Statement(Arc::new(Text {
            sql: sql.into(),
            types: types.into_iter().collect(),
        }))
    }

    /// The SQL.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.0.sql
    }

    pub(crate) fn types(&self) -> &[Type] {
        &self.0.types
    }

    /// Whether both stand for the same: clones always, others where they say the same.
    pub(crate) fn is(&self, other: &Statement) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.sql == other.0.sql && self.0.types == other.0.types)
    }

    /// A request to execute it with these parameters.
    #[must_use]
    pub fn with(&self, parameters: impl IntoIterator<Item = Value>) -> Request {
        Request(Asked::One(Step::Prepared {
            statement: self.clone(),
            parameters: parameters.into_iter().collect(),
        }))
    }
}

/// One request. It is made for each call; [`Statement::with`] makes the usual one.
#[derive(Clone, Debug)]
pub struct Request(pub(crate) Asked);

#[derive(Clone, Debug)]
pub(crate) enum Asked {
    One(Step),
    Transaction(Arc<str>, Vec<Step>),
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Prepared {
        statement: Statement,
        parameters: Vec<Value>,
    },
    Typed {
        sql: Arc<str>,
        parameters: Vec<(Value, Type)>,
    },
    Simple(Arc<str>),
    CopyIn {
        statement: Statement,
        chunks: Vec<Bytes>,
    },
}

impl Request {
    /// SQL with parameters of given types, parsed and executed in one round trip, without a prepared statement.
    pub fn typed(
        sql: impl Into<Arc<str>>,
        parameters: impl IntoIterator<Item = (Value, Type)>,
    ) -> Self {
        Request(Asked::One(Step::Typed {
            sql: sql.into(),
            parameters: parameters.into_iter().collect(),
        }))
    }

    /// One or several statements in one text, by the simple protocol: no parameters, and every value comes as text.
    pub fn simple(sql: impl Into<Arc<str>>) -> Self {
        Request(Asked::One(Step::Simple(sql.into())))
    }

    /// `COPY … FROM STDIN` with these data.
    #[must_use]
    pub fn copy_in(statement: &Statement, chunks: impl IntoIterator<Item = Bytes>) -> Self {
        Request(Asked::One(Step::CopyIn {
            statement: statement.clone(),
            chunks: chunks.into_iter().collect(),
        }))
    }

    /// These requests in turn inside one transaction, each sent when the one before is answered, between a `BEGIN` and
    /// a `COMMIT` of their own; `ROLLBACK` after the first that fails. The parts of a transaction among them join this
    /// one.
    #[must_use]
    pub fn transaction(requests: impl IntoIterator<Item = Request>) -> Self {
        Self::transaction_as("BEGIN", requests)
    }

    /// The same, begun by another statement than `BEGIN`, such as `BEGIN ISOLATION LEVEL SERIALIZABLE`.
    pub fn transaction_as(
        begin: impl Into<Arc<str>>,
        requests: impl IntoIterator<Item = Request>,
    ) -> Self {
        let steps = requests.into_iter().flat_map(|request| match request.0 {
            Asked::One(step) => vec![step],
            Asked::Transaction(_, steps) => steps,
        });
        Request(Asked::Transaction(begin.into(), steps.collect()))
    }

    /// Whether it may leave a transaction open where it fails.
    pub(crate) fn may_leave_a_transaction(&self) -> bool {
        matches!(self.0, Asked::One(Step::Simple(_)))
    }

    pub(crate) fn is_transaction(&self) -> bool {
        matches!(self.0, Asked::Transaction(..))
    }
}

impl Step {
    /// The statement that it has to have prepared.
    pub(crate) fn statement(&self) -> Option<&Statement> {
        match self {
            Step::Prepared { statement, .. } | Step::CopyIn { statement, .. } => Some(statement),
            Step::Typed { .. } | Step::Simple(_) => None,
        }
    }
}
