//! Connections as far as they are the same for every protocol: how many, whom they trust, how long opening them may take.

use crate::protocol::Connecting;
use openloop_measurer::{Describe, Verdict};
use openloop_net::Tls;
use std::fmt::Display;
use std::future::Future;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// How long opening connections may take before the run, and how much longer for each of them.
const SET_UP: Duration = Duration::from_secs(10);
const SET_UP_EACH: Duration = Duration::from_millis(10);
/// How long the target may take to accept a connection after the drain.
pub(crate) const HEALTH: Duration = Duration::from_secs(5);
/// How many no-ops tell the round trip.
pub(crate) const PROBES: usize = 25;

/// The certificates to trust; `None` for those of this machine.
pub(crate) fn tls(ca: Option<&Path>, accepts_any: bool) -> Result<Option<Tls>, String> {
    if accepts_any {
        return Ok(Some(Tls::insecure_accept_any_certificate()));
    }
    let Some(file) = ca else {
        return Ok(None);
    };
    std::fs::read_to_string(file)
        .map(|pem| Some(Tls::roots_from_pem(pem)))
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

/// `--connections`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionsArg {
    Fixed(usize),
    PerInFlight,
}

impl ConnectionsArg {
    /// How connections come about, where `per_request` is `--connect-per-request`.
    pub(crate) fn connecting(self, per_request: bool) -> Connecting {
        match (per_request, self) {
            (true, _) => Connecting::PerRequest,
            (false, ConnectionsArg::PerInFlight) => Connecting::PerInFlight,
            (false, ConnectionsArg::Fixed(size)) => Connecting::Pool(size),
        }
    }

    /// Each thread needs a connection of its own.
    pub(crate) fn check(self, threads: usize) -> Result<(), String> {
        match self {
            ConnectionsArg::Fixed(size) if size < threads => Err(format!(
                "each of the {threads} threads needs a connection, and there are {size}: give more --connections"
            )),
            _ => Ok(()),
        }
    }
}

impl FromStr for ConnectionsArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "per-in-flight" {
            return Ok(ConnectionsArg::PerInFlight);
        }
        match text.parse() {
            Ok(0) => Err("a pool of 0 connections serves nothing: give at least 1".to_owned()),
            Ok(size) => Ok(ConnectionsArg::Fixed(size)),
            Err(_) => Err("write a number, such as 50, or per-in-flight".to_owned()),
        }
    }
}

impl Connecting {
    pub(crate) fn set_up_limit(self) -> Duration {
        match self {
            Connecting::Pool(size) => {
                let size = u32::try_from(size).unwrap_or(u32::MAX);
                SET_UP + SET_UP_EACH.saturating_mul(size)
            }
            _ => SET_UP,
        }
    }

    /// In words, for people.
    pub(crate) fn shown(self) -> String {
        match self {
            Connecting::Pool(1) => "1 connection".to_owned(),
            Connecting::Pool(size) => format!("{size} connections"),
            Connecting::PerRequest => "a new connection for each request".to_owned(),
            Connecting::PerInFlight => "a connection for each request in flight".to_owned(),
        }
    }
}
/// Whether the target can be reached after a run. One that turns a connection away, because others have them all, is there.
pub(crate) async fn reached<E: Describe + Display>(
    connecting: impl Future<Output = Result<(), E>>,
) -> Result<(), String> {
    match tokio::time::timeout(HEALTH, connecting).await {
        Ok(Err(error)) if matches!(error.verdict(), Verdict::Rejected(_)) => Ok(()),
        Ok(connected) => connected.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no connection within {HEALTH:?} after the run")),
    }
}
