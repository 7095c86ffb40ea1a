//! What each request asks for.

use super::PostgresArgs;
use super::mix::{self, SqlMix};
use super::sql;
use openloop_postgres::{Request, Statement, Value};
use openloop_workload::traces::Trace;
use openloop_workload::{Fields, Keys, Template};

/// Request number `seq`, the same whoever sends it.
#[derive(Debug)]
pub(crate) enum Requests {
    /// All of these queries.
    Same {
        queries: Vec<Query>,
        keys: Option<Keys>,
    },
    /// Of several kinds.
    Mixed(SqlMix),
}

/// One statement and what its parameters are.
#[derive(Debug)]
pub(crate) struct Query {
    statement: Statement,
    /// Of each parameter, its name in braces.
    parameters: Vec<Template>,
    is_simple: bool,
}

impl Query {
    /// # Errors
    /// When a parameter is none of `names`, or stands where none can.
    pub(crate) fn new(text: &str, names: &[&str]) -> Result<Self, String> {
        let (sql, used) = sql::bind(text, names)?;
        let name = |place: &usize| Some(Template::new(format!("{{{}}}", names.get(*place)?)));
        Ok(Query {
            statement: Statement::new(sql),
            parameters: used.iter().filter_map(name).collect(),
            is_simple: false,
        })
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Template> {
        self.parameters.iter()
    }

    /// With a value for each parameter.
    fn with(&self, value: impl Fn(&Template) -> Value) -> Request {
        if self.is_simple {
            return Request::simple(self.statement.sql());
        }
        self.statement.with(self.parameters.iter().map(value))
    }
}

/// One query, or a transaction of several.
fn request(queries: &[Query], value: impl Fn(&Template) -> Value) -> Request {
    match queries {
        [one] => one.with(value),
        several => Request::transaction(several.iter().map(|query| query.with(&value))),
    }
}

/// A request whose parameters are fields. They are sent as texts, which the server reads as it does literals.
pub(crate) fn of_fields(queries: &[Query], fields: &Fields, seed: u64, seq: u64) -> Request {
    request(queries, |name| Value::from(fields.render(name, seed, seq)))
}

impl Requests {
    /// # Errors
    /// When the flags make no request.
    pub(crate) fn new(arguments: &PostgresArgs, trace: Option<&Trace>) -> Result<Self, String> {
        if let Some(file) = &arguments.mix {
            return Ok(Requests::Mixed(mix::read(file, trace)?));
        }
        let mut queries = Vec::new();
        for text in &arguments.query {
            let mut query = Query::new(text, &["key"])?;
            query.is_simple = arguments.simple;
            if query.is_simple && !query.parameters.is_empty() {
                return Err(format!(
                    "{text:?} has a parameter, which the simple protocol cannot carry: leave out --simple"
                ));
            }
            queries.push(query);
        }
        let is_used = queries.iter().any(|query| !query.parameters.is_empty());
        match (arguments.keys, is_used) {
            (Some(keys), false) => Err(format!(
                "--keys {keys} has no effect: write {{key}} in a --query"
            )),
            (None, true) => Err(
                "{key} stands in a query and nothing says which keys there are: give --keys uniform:N or zipf:N:S"
                    .to_owned(),
            ),
            (keys, _) => Ok(Requests::Same { queries, keys }),
        }
    }

    /// The statements to prepare before the run.
    pub(crate) fn statements(&self) -> Vec<&Statement> {
        let queries: Vec<&Query> = match self {
            Requests::Same { queries, .. } => queries.iter().collect(),
            Requests::Mixed(mix) => mix.queries().collect(),
        };
        let prepared = queries.into_iter().filter(|query| !query.is_simple);
        prepared.map(|query| &query.statement).collect()
    }

    pub(crate) fn of(&self, seed: u64, seq: u64) -> Request {
        match self {
            Requests::Same { queries, keys } => {
                let key = keys.map(|keys| keys.key(seed, seq));
                request(queries, |_| Value::from(key))
            }
            Requests::Mixed(mix) => mix.request(seed, seq),
        }
    }

    /// The kinds, if there are several.
    pub(crate) fn mix(&self) -> Option<&SqlMix> {
        match self {
            Requests::Same { .. } => None,
            Requests::Mixed(mix) => Some(mix),
        }
    }
}
