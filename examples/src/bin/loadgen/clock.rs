//! How far the clock of this machine is off from one that all machines of a run can ask.

use crate::exit::Failure;
use openloop_experiment::ClockOffset;
use rsntp::{Config, SntpClient, SynchronizationError};
use std::net::{Ipv6Addr, ToSocketAddrs};
use std::time::{Duration, SystemTime};

/// The port of NTP.
const PORT: u16 = 123;
/// How often it is asked: the answer that came fastest is the one that can be off the least.
const ASKED: usize = 8;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// How fast two clocks may drift apart until the run begins, in seconds a second: that of RFC 5905.
const DRIFT: f64 = 15e-6;

/// Asks the clock of `reference`, which is HOST or HOST:PORT, before a run that begins at `start`.
///
/// # Errors
/// Where it cannot be resolved, or does not answer once.
pub(crate) fn ask(reference: &str, start: SystemTime) -> Result<ClockOffset, Failure> {
    let unreachable = |why: String| {
        Failure::Unreachable(format!(
            "the clock of {reference} tells no time by NTP ({why}): check the name and its port"
        ))
    };
    // What has no port of its own has the usual one.
    let resolved = match reference.to_socket_addrs() {
        Ok(addresses) => Ok(addresses.collect::<Vec<_>>()),
        Err(_) => (reference, PORT).to_socket_addrs().map(Iterator::collect),
    };
    let addresses = resolved.map_err(|error| unreachable(error.to_string()))?;
    let address = *addresses
        .first()
        .ok_or_else(|| unreachable("it has no address".to_owned()))?;
    let config = Config::default().timeout(PATIENCE);
    let client = SntpClient::with_config(match address.is_ipv6() {
        true => config.bind_address((Ipv6Addr::UNSPECIFIED, 0).into()),
        false => config,
    });
    let mut best: Option<(f64, f64)> = None;
    let mut failure = None;
    for _ in 0..ASKED {
        match client.synchronize(address) {
            Ok(answer) => {
                let round_trip = answer.round_trip_delay().as_secs_f64().max(0.0);
                if best.is_none_or(|(least, _)| round_trip < least) {
                    best = Some((round_trip, answer.clock_offset().as_secs_f64()));
                }
            }
            Err(error) => {
                // One that was silent once is not asked eight times.
                let is_silent = matches!(error, SynchronizationError::IOError(_));
                failure = Some(error);
                if is_silent {
                    break;
                }
            }
        }
    }
    let Some((round_trip, offset)) = best else {
        let why = failure.map_or_else(|| "no answer".to_owned(), |error| error.to_string());
        return Err(unreachable(why));
    };
    let until = start.duration_since(SystemTime::now()).unwrap_or_default();
    Ok(ClockOffset {
        reference: reference.to_owned(),
        // Up to what i64 holds, which is 292 years.
        offset_ns: (offset * 1e9).round() as i64,
        within: Duration::from_secs_f64(round_trip / 2.0) + until.mul_f64(DRIFT),
    })
}

/// Refuses a start that has passed, by the clock that it is given in.
pub(crate) fn to_come(start: SystemTime, offset: Option<&ClockOffset>) -> Result<(), Failure> {
    let here = offset.map_or(Some(start), |offset| offset.here(start));
    let past = here.and_then(|here| SystemTime::now().duration_since(here).ok());
    match past.filter(|past| !past.is_zero()) {
        None => Ok(()),
        Some(past) => Err(Failure::Usage(format!(
            "--start-at was {past:.1?} ago: give an instant to come, by which all shards are set up"
        ))),
    }
}
