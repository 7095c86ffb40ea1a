//! What the server answered.

use crate::{Stages, code};
use openloop_measurer::{Describe, Details, Verdict};
use redis::{ServerError, Value};

/// The reply to a request, whole. An error reply is a reply as well: [`verdict`](crate::verdict) says how each is counted.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) value: Value,
    pub(crate) stages: Stages,
}

impl Reply {
    /// What came: for a pipeline or transaction an array of its replies.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The same without a copy.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.value
    }

    /// The first error in it, if there is one: the reply itself, one of a pipeline's, or one inside what `EXEC` answers.
    #[must_use]
    pub fn error(&self) -> Option<&ServerError> {
        error_in(&self.value)
    }

    /// Where the time of the call went.
    #[must_use]
    pub fn stages(&self) -> &Stages {
        &self.stages
    }
}

impl Describe for Reply {
    fn verdict(&self) -> Verdict {
        self.error().map_or(Verdict::Ok, code::verdict)
    }

    fn details(&self, into: &mut Details<'_>) {
        self.stages.details(into);
    }
}

pub(crate) fn error_in(value: &Value) -> Option<&ServerError> {
    match value {
        Value::ServerError(error) => Some(error),
        Value::Array(values) | Value::Set(values) => values.iter().find_map(error_in),
        _ => None,
    }
}

/// The bytes of the values in a reply, and how many of them are nil.
pub(crate) fn measure(value: &Value) -> (u64, u64) {
    let all = |values: &mut dyn Iterator<Item = &Value>| {
        values
            .map(measure)
            .fold((0, 0), |(bytes, nils), (more, others)| {
                (bytes + more, nils + others)
            })
    };
    match value {
        Value::Nil => (0, 1),
        Value::BulkString(bytes) => (bytes.len() as u64, 0),
        Value::SimpleString(text) => (text.len() as u64, 0),
        Value::VerbatimString { text, .. } => (text.len() as u64, 0),
        Value::Array(values) | Value::Set(values) => all(&mut values.iter()),
        Value::Map(pairs) => all(&mut pairs.iter().flat_map(|(key, value)| [key, value])),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(wire: &str) -> Value {
        redis::parse_redis_value(wire.as_bytes()).unwrap()
    }

    #[test]
    fn bytes_and_nils_are_those_of_all_values() {
        assert_eq!(measure(&parsed("$5\r\nhello\r\n")), (5, 0));
        assert_eq!(measure(&parsed("$-1\r\n")), (0, 1));
        assert_eq!(
            measure(&parsed("*3\r\n$2\r\nab\r\n$-1\r\n*1\r\n$1\r\nc\r\n")),
            (3, 1)
        );
        assert_eq!(measure(&parsed(":5\r\n")), (0, 0));
    }

    #[test]
    fn an_error_is_found_wherever_it_stands() {
        for (wire, verdict) in [
            ("+OK\r\n", Verdict::Ok),
            ("-WRONGTYPE no\r\n", Verdict::Failed("redis_wrongtype")),
            ("*2\r\n+OK\r\n-OOM no\r\n", Verdict::Rejected("redis_oom")),
            (
                "*3\r\n+OK\r\n+QUEUED\r\n*1\r\n-WRONGTYPE no\r\n",
                Verdict::Failed("redis_wrongtype"),
            ),
        ] {
            let reply = Reply {
                value: parsed(wire),
                stages: Stages::default(),
            };
            assert_eq!(reply.verdict(), verdict, "{wire}");
        }
    }
}
