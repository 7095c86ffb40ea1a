//! What the server says of itself.

use crate::engine::failed;
use crate::opener::Opener;
use crate::session::Session;
use crate::{PostgresError, PostgresErrorKind, Stages};
use tokio_postgres::SimpleQueryMessage;

/// Its own database alone: a server has others.
const BUFFERS: &str =
    "SELECT blks_hit, blks_read FROM pg_stat_database WHERE datname = current_database()";

/// A connection to watch the server over, apart from those that are measured.
#[derive(Debug)]
pub struct Monitor(Session);

impl Monitor {
    pub(crate) async fn open(opener: &Opener) -> Result<Self, PostgresError> {
        let mut stages = Stages::default();
        match Session::open(opener, &mut stages).await {
            Ok(session) => Ok(Monitor(session)),
            Err(kind) => Err(failed(kind, stages)),
        }
    }

    /// How many blocks of this database were found in the server's buffer pool, and how many were not, since its
    /// statistics were last reset. Each backend reports about once a second, after a transaction.
    ///
    /// # Errors
    ///
    /// Where the server does not answer.
    pub async fn buffers(&mut self) -> Result<Buffers, PostgresError> {
        let (line, drive) = self.0.halves();
        let asked = drive.until(line.client.simple_query(BUFFERS)).await;
        let failed = |kind| failed(kind, Stages::default());
        let messages = asked.map_err(|error| failed(error.into()))?;
        let row = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let number = |place| row.and_then(|row| row.get(place)?.parse().ok());
        match (number(0), number(1)) {
            (Some(hit), Some(read)) => Ok(Buffers { hit, read }),
            _ => Err(failed(PostgresErrorKind::Malformed(
                "pg_stat_database does not know this database".to_owned(),
            ))),
        }
    }
}

/// Blocks that were asked of the server's buffer pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Buffers {
    /// Blocks that were there.
    pub hit: u64,
    /// Blocks that were read from outside, the operating system's cache among it.
    pub read: u64,
}

impl Buffers {
    /// What was asked since `earlier`; a server whose statistics were reset meanwhile counts from there.
    #[must_use]
    pub fn since(self, earlier: Buffers) -> Buffers {
        if self.hit < earlier.hit || self.read < earlier.read {
            return self;
        }
        Buffers {
            hit: self.hit - earlier.hit,
            read: self.read - earlier.read,
        }
    }

    /// The share of blocks that were there; `None` where none was asked for.
    ///
    /// A share near 1 says that the load runs from memory: of a database that does not fit into it, another load would
    /// be slower.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn hit_rate(self) -> Option<f64> {
        let asked = self.hit as f64 + self.read as f64;
        (asked > 0.0).then(|| self.hit as f64 / asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_the_window_and_none_of_nothing() {
        let at = |hit, read| Buffers { hit, read };
        assert_eq!(at(130, 20).since(at(100, 10)), at(30, 10));
        assert_eq!(at(30, 10).hit_rate(), Some(0.75));
        assert_eq!(at(0, 0).hit_rate(), None);
        assert_eq!(at(5, 1).since(at(100, 10)), at(5, 1));
    }
}
