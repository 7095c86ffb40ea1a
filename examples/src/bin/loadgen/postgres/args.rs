//! The flags of `loadgen postgres`.

use crate::cli::LoadArgs;
use crate::connections::ConnectionsArg;
use crate::problem;
use clap::Args;
use openloop_postgres::Tls;
use openloop_workload::Keys;
use std::path::PathBuf;

/// What is asked of a PostgreSQL server, and over which connections.
#[derive(Clone, Debug, Args)]
pub(crate) struct PostgresArgs {
    /// Such as postgres://user:password@127.0.0.1:5432/database; ?sslmode=require speaks TLS, and
    /// ?options=-c%20statement_timeout=100 sets what the server should keep to
    pub(crate) dsn: String,

    /// The statement of each request; {key} in it is a parameter, which needs --keys. It is prepared once on each
    /// connection. Given several times, each request is a transaction of them all
    #[arg(
        long,
        value_name = "SQL",
        required_unless_present_any = ["mix", "problem"],
        help_heading = "Request"
    )]
    pub(crate) query: Vec<String>,

    /// What stands for {key}: uniform:N, sequential:N, zipf:N:S, zipf:N:80/20, hotspot:N:HOT:SHARE or
    /// latest:N:S:INSERTS, all told below; the same for the same --seed and request number
    #[arg(long, value_name = "LAW", help_heading = "Request")]
    pub(crate) keys: Option<Keys>,

    /// Several kinds of request, each with a weight, a query or the queries of a transaction, and fields that are its
    /// parameters: see examples/mixes/bank.toml. With --arrivals trace:FILE the rows of the trace choose the kinds, where
    /// it has kinds of these names
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "keys", "simple"], help_heading = "Request")]
    pub(crate) mix: Option<PathBuf>,

    /// Sends the text as it is, by the simple protocol: it may hold several statements, and no {key}
    #[arg(long, help_heading = "Request")]
    pub(crate) simple: bool,

    /// Runs a request again that lost a serialization conflict or a deadlock, so many times
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Request")]
    pub(crate) retries: u32,

    /// Connections, opened before the run and shared; or per-in-flight: as many as there are requests in flight
    #[arg(
        long,
        value_name = "N|per-in-flight",
        default_value = "50",
        help_heading = "Connections"
    )]
    pub(crate) connections: ConnectionsArg,

    /// At most so many requests in line for a connection; one more fails as pool_full [default: no limit]
    #[arg(long, value_name = "K", help_heading = "Connections")]
    pub(crate) line: Option<usize>,

    /// Requests that a connection carries at once
    #[arg(
        long,
        value_name = "DEPTH",
        default_value_t = 1,
        help_heading = "Connections"
    )]
    pub(crate) pipeline: usize,

    /// A new connection for each request, closed after it: the server starts a process for each
    #[arg(long, conflicts_with = "connections", help_heading = "Connections")]
    pub(crate) connect_per_request: bool,

    /// Trusts the certificates of this PEM file and no others
    #[arg(long, value_name = "FILE", help_heading = "Connections")]
    pub(crate) ca: Option<PathBuf>,

    /// Takes any certificate: for test servers only
    #[arg(long, conflicts_with = "ca", help_heading = "Connections")]
    pub(crate) insecure: bool,

    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

pub(crate) const NO_TRANSACTION: &str =
    "a transaction cannot share its connection: leave out --pipeline, or give one query alone";

impl PostgresArgs {
    /// Puts what the problem says of the requests in the place of what the flags do not say.
    pub(crate) fn fill(&mut self) {
        let takes_mix = self.query.is_empty();
        let has_key = self.query.iter().any(|query| query.contains("{key}"));
        let (mix, keys) = (&mut self.mix, &mut self.keys);
        problem::fill_requests(&self.load, takes_mix, has_key, mix, keys);
    }

    /// The certificates to trust; `None` for those of this machine.
    pub(crate) fn tls(&self) -> Result<Option<Tls>, String> {
        crate::connections::tls(self.ca.as_deref(), self.insecure)
    }

    /// What the flags must be together.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.query.is_empty() && self.mix.is_none() {
            return Err("what is asked is not said: give --query SQL, or --mix FILE".to_owned());
        }
        if !self.connect_per_request {
            self.connections.check(self.load.schedule.threads)?;
        }
        let is_pool =
            matches!(self.connections, ConnectionsArg::Fixed(_)) && !self.connect_per_request;
        if self.line.is_some() && !is_pool {
            return Err(
                "--line is the one for a fixed number of connections: give --connections N"
                    .to_owned(),
            );
        }
        if self.pipeline > 1 && self.query.len() > 1 {
            return Err(NO_TRANSACTION.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::{Cli, Command};
    use crate::exit::Status;
    use crate::postgres::PostgresLoad;
    use crate::protocol::Protocol;
    use clap::Parser;

    const DSN: &str = "postgres://u:secret@h/d";

    fn load(words: &[&str]) -> Result<PostgresLoad, String> {
        let command = ["loadgen", "postgres"].iter().chain(words);
        let cli = Cli::try_parse_from(command).map_err(|error| {
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        })?;
        let Command::Postgres(arguments) = cli.command else {
            panic!("{cli:?}");
        };
        PostgresLoad::new(&arguments, None).map_err(|failure| {
            assert_eq!(failure.status(), Status::Usage);
            failure.to_string()
        })
    }

    #[test]
    fn what_makes_no_request_is_refused_before_anything_is_sent() {
        for (words, named) in [
            (&[DSN][..], "--query"),
            (&["http://h/", "--query", "SELECT 1"], "postgres://"),
            (&["postgres://u@/d", "--query", "SELECT 1"], "no host"),
            (&[DSN, "--query", "SELECT {key}"], "--keys"),
            (
                &[DSN, "--query", "SELECT 1", "--keys", "uniform:5"],
                "{key}",
            ),
            (
                &[DSN, "--query", "SELECT '{key}'", "--keys", "uniform:5"],
                "without quotes",
            ),
            (
                &[
                    DSN,
                    "--query",
                    "SELECT {key}",
                    "--keys",
                    "uniform:5",
                    "--simple",
                ],
                "--simple",
            ),
            (
                &[
                    DSN,
                    "--query",
                    "SELECT 1",
                    "--query",
                    "SELECT 2",
                    "--pipeline",
                    "4",
                ],
                "--pipeline",
            ),
            (
                &[
                    DSN,
                    "--query",
                    "SELECT 1",
                    "--line",
                    "4",
                    "--connect-per-request",
                ],
                "--line",
            ),
            (
                &[
                    DSN,
                    "--query",
                    "SELECT 1",
                    "--threads",
                    "8",
                    "--connections",
                    "4",
                ],
                "8 threads",
            ),
        ] {
            let message = load(words).unwrap_err();
            assert!(message.contains(named), "{words:?}: {message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let load = load(&[DSN, "--query", "SELECT 1"]).unwrap();
        assert_eq!(load.target(), "postgres://***@h/d");
        assert_eq!(load.endpoint(), ("h", 5432));
        assert_eq!(
            load.describe(),
            "SELECT 1 at postgres://***@h/d over 50 connections"
        );
        assert!(!format!("{:?}", load.requests).contains("secret"));
    }
}
