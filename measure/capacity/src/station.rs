//! What every model starts from.

use crate::{CapacityError, check};

/// What arrives at how many servers, and how long each takes: what every model starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    rate: f64,
    service: f64,
    servers: u32,
}

impl Station {
    pub(crate) fn new(rate: f64, service: f64, servers: u32) -> Result<Self, CapacityError> {
        check::servers(servers)?;
        Ok(Station {
            rate: check::not_negative("the arrival rate", rate)?,
            service: check::positive("the mean service", service)?,
            servers,
        })
    }

    /// One whose servers keep up with what arrives: ρ < 1.
    pub(crate) fn stable(rate: f64, service: f64, servers: u32) -> Result<Self, CapacityError> {
        let station = Self::new(rate, service, servers)?;
        check::stable(station.offered_load(), servers)?;
        Ok(station)
    }

    /// λ, arrivals per second.
    #[must_use]
    pub const fn arrival_rate(&self) -> f64 {
        self.rate
    }

    /// S, the mean service in seconds.
    #[must_use]
    pub const fn mean_service(&self) -> f64 {
        self.service
    }

    /// c, the number of servers.
    #[must_use]
    pub const fn servers(&self) -> u32 {
        self.servers
    }

    /// a = λ S, the servers that all arrivals would keep busy.
    #[must_use]
    pub const fn offered_load(&self) -> f64 {
        self.rate * self.service
    }
}
