//! Descriptors and ports: what this machine has, against what a run needs.

use std::time::Duration;

/// How long Linux keeps the side that closed first in TIME_WAIT (`TCP_TIMEWAIT_LEN`, not a setting).
const TIME_WAIT: Duration = Duration::from_secs(60);
/// How soon `tcp_tw_reuse` may take a port out of TIME_WAIT.
const TIME_WAIT_REUSED: Duration = Duration::from_secs(1);
/// Descriptors that a process opens beside its sockets: logs, timers, epoll, name resolution.
const SPARE_DESCRIPTORS: u64 = 32;

/// Why the limits cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// This platform does not say.
    #[error("this platform does not tell its limit on file descriptors")]
    Unsupported,
    /// The kernel refused.
    #[error("the limit on file descriptors cannot be read or set: {0}")]
    Descriptors(#[source] std::io::Error),
}

/// What a run needs of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Connections open at the same time.
    pub connections: u64,
    /// Connections opened anew per second, beside these: 0 for a pool.
    pub new_connections_per_second: f64,
    /// For how long.
    pub duration: Duration,
    /// The target is on this host.
    pub loopback: bool,
}

/// What there is too little of, how much is needed, and what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Shortage {
    /// File descriptors of this process, and its hard limit allows more.
    #[error(
        "{needed} file descriptors are needed and {available} are free of {soft}; raise it with \
         `ulimit -n {raise_to}` (the hard limit is {hard})"
    )]
    SoftDescriptors {
        /// Needed by the run.
        needed: u64,
        /// Free now.
        available: u64,
        /// The soft limit.
        soft: u64,
        /// The hard limit.
        hard: u64,
        /// The soft limit that would do.
        raise_to: u64,
    },
    /// File descriptors of this process, beyond its hard limit.
    #[error(
        "{needed} file descriptors are needed and even the hard limit of {hard} leaves {available}; use fewer \
         connections, several processes, or have an administrator raise it (limits.conf, LimitNOFILE)"
    )]
    HardDescriptors {
        /// Needed by the run.
        needed: u64,
        /// Free under the hard limit.
        available: u64,
        /// The hard limit.
        hard: u64,
    },
    /// Local ports towards one destination.
    #[error(
        "{needed} local ports are needed ({time_wait} of them in TIME_WAIT) and the range has {available}; \
         reuse connections, widen net.ipv4.ip_local_port_range, set net.ipv4.tcp_tw_reuse=1, or use several \
         local addresses"
    )]
    Ports {
        /// Needed by the run.
        needed: u64,
        /// In the range.
        available: u64,
        /// Of those needed, how many stand in TIME_WAIT.
        time_wait: u64,
    },
}

/// Limits of this process and this machine at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The limit on descriptors that holds now.
    pub descriptors_soft: u64,
    /// The limit to which a process may raise it.
    pub descriptors_hard: u64,
    /// Descriptors open now.
    pub descriptors_used: u64,
    /// The first and the last of the ports from which outgoing connections get theirs; `None` where the platform
    /// does not say.
    pub port_range: Option<(u16, u16)>,
    /// `net.ipv4.tcp_tw_reuse`: 0 never, 1 always, 2 on loopback.
    pub tw_reuse: Option<u8>,
}

impl Limits {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// [`LimitsError`] where the platform does not tell.
    #[cfg(unix)]
    pub fn read() -> Result<Self, LimitsError> {
        let (soft, hard) =
            nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE)
                .map_err(|errno| LimitsError::Descriptors(errno.into()))?;
        Ok(Limits {
            descriptors_soft: soft,
            descriptors_hard: hard,
            descriptors_used: used_descriptors(),
            port_range: read_port_range(),
            tw_reuse: read_tw_reuse(),
        })
    }

    /// Reads them.
    ///
    /// # Errors
    ///
    /// Always: this platform does not tell.
    #[cfg(not(unix))]
    pub fn read() -> Result<Self, LimitsError> {
        Err(LimitsError::Unsupported)
    }

    /// Raises this process's soft limit on descriptors to its hard one; returns the limits then.
    ///
    /// # Errors
    ///
    /// [`LimitsError`] where the kernel refuses.
    #[cfg(unix)]
    pub fn raise_soft_descriptors_to_hard() -> Result<Self, LimitsError> {
        use nix::sys::resource::{Resource, getrlimit, setrlimit};
        let failed = |errno: nix::errno::Errno| LimitsError::Descriptors(errno.into());
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(failed)?;
        if soft < hard {
            setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map_err(failed)?;
        }
        Limits::read()
    }

    /// Whether a run's needs fit: every shortage there is, none if it fits.
    ///
    /// Ports are counted for one destination and one local address, in the worst case, in which our side closes
    /// every connection first and its port stands in TIME_WAIT for 60 s (1 s where `tcp_tw_reuse` lets it be taken
    /// again). What the platform does not tell is not checked.
    ///
    /// ```text
    /// descriptors = connections + ⌈new per second⌉ + 32          (new ones stay open for up to a second)
    /// ports       = connections + ⌈new per second · min(duration, time in TIME_WAIT)⌉
    /// ```
    #[must_use]
    pub fn check(&self, needs: &Needs) -> Vec<Shortage> {
        let rate = needs.new_connections_per_second.max(0.0);
        let mut shortages = Vec::new();
        shortages.extend(self.check_descriptors(needs.connections, whole(rate)));
        let held = match self.tw_reuse {
            Some(1) => TIME_WAIT_REUSED,
            Some(2) if needs.loopback => TIME_WAIT_REUSED,
            _ => TIME_WAIT,
        };
        let time_wait = whole(rate * needs.duration.min(held).as_secs_f64());
        shortages.extend(self.check_ports(needs.connections, time_wait));
        shortages
    }

    fn check_descriptors(&self, connections: u64, new: u64) -> Option<Shortage> {
        let needed = connections
            .saturating_add(new)
            .saturating_add(SPARE_DESCRIPTORS);
        let raise_to = needed.saturating_add(self.descriptors_used);
        if raise_to <= self.descriptors_soft {
            return None;
        }
        let (soft, hard) = (self.descriptors_soft, self.descriptors_hard);
        Some(if raise_to <= hard {
            Shortage::SoftDescriptors {
                needed,
                available: soft.saturating_sub(self.descriptors_used),
                soft,
                hard,
                raise_to,
            }
        } else {
            Shortage::HardDescriptors {
                needed,
                available: hard.saturating_sub(self.descriptors_used),
                hard,
            }
        })
    }

    fn check_ports(&self, connections: u64, time_wait: u64) -> Option<Shortage> {
        let (first, last) = self.port_range?;
        let available = u64::from(last.saturating_sub(first)) + 1;
        let needed = connections.saturating_add(time_wait);
        (needed > available).then_some(Shortage::Ports {
            needed,
            available,
            time_wait,
        })
    }
}

/// The next whole number; a float beyond `u64` becomes its largest.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and it is ≥ 0"
)]
fn whole(value: f64) -> u64 {
    value.ceil() as u64
}

#[cfg(unix)]
fn used_descriptors() -> u64 {
    // Reading the folder opens one more, which is not counted.
    ["/proc/self/fd", "/dev/fd"]
        .iter()
        .find_map(|path| std::fs::read_dir(path).ok())
        .map_or(0, |entries| (entries.count() as u64).saturating_sub(1))
}

#[cfg(unix)]
fn read_port_range() -> Option<(u16, u16)> {
    parse_port_range(&std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?)
}

#[cfg(unix)]
fn parse_port_range(text: &str) -> Option<(u16, u16)> {
    let mut numbers = text.split_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(unix)]
fn read_tw_reuse() -> Option<u8> {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_tw_reuse")
        .ok()?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Limits = Limits {
        descriptors_soft: 1_024,
        descriptors_hard: 20_000,
        descriptors_used: 10,
        port_range: Some((32_768, 60_999)),
        tw_reuse: Some(2),
    };

    fn pool(connections: u64) -> Needs {
        Needs {
            connections,
            new_connections_per_second: 0.0,
            duration: Duration::from_secs(60),
            loopback: true,
        }
    }

    fn anew(per_second: f64, seconds: u64, loopback: bool) -> Needs {
        Needs {
            connections: 0,
            new_connections_per_second: per_second,
            duration: Duration::from_secs(seconds),
            loopback,
        }
    }

    #[test]
    fn a_pool_that_just_fits_has_no_shortage() {
        assert_eq!(MACHINE.check(&pool(1_024 - 32 - 10)), []);
    }

    #[test]
    fn one_connection_more_names_the_number_and_the_remedy() {
        let shortages = MACHINE.check(&pool(983));
        assert_eq!(
            shortages,
            [Shortage::SoftDescriptors {
                needed: 1_015,
                available: 1_014,
                soft: 1_024,
                hard: 20_000,
                raise_to: 1_025
            }]
        );
        assert!(shortages[0].to_string().contains("`ulimit -n 1025`"));
    }

    #[test]
    fn beyond_the_hard_limit_ulimit_is_no_remedy() {
        let shortages = MACHINE.check(&pool(20_000));
        assert!(matches!(
            shortages[..],
            [Shortage::HardDescriptors {
                needed: 20_032,
                available: 19_990,
                hard: 20_000
            }]
        ));
        assert!(!shortages[0].to_string().contains("ulimit"));
    }

    #[test]
    fn ports_stand_in_time_wait_for_a_minute_unless_they_may_be_reused() {
        // 28 232 ports; 500/s for 60 s is 30 000.
        let over_the_network = MACHINE.check(&anew(500.0, 600, false));
        assert_eq!(
            over_the_network,
            [Shortage::Ports {
                needed: 30_000,
                available: 28_232,
                time_wait: 30_000
            }]
        );
        assert_eq!(MACHINE.check(&anew(500.0, 600, true)), []);
        assert_eq!(MACHINE.check(&anew(500.0, 56, false)), []);
        let reused_everywhere = Limits {
            tw_reuse: Some(1),
            ..MACHINE
        };
        assert_eq!(reused_everywhere.check(&anew(500.0, 600, false)), []);
    }

    #[test]
    fn absurd_rates_are_a_shortage_and_no_panic() {
        for rate in [f64::INFINITY, 1e300] {
            assert_eq!(MACHINE.check(&anew(rate, 60, false)).len(), 2, "{rate}");
        }
        assert_eq!(MACHINE.check(&anew(f64::NAN, 60, false)), []);
        assert_eq!(MACHINE.check(&anew(-1.0, 60, false)), []);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_tells_its_limits() {
        let limits = Limits::read().unwrap();
        assert!(limits.descriptors_used > 0);
        assert!(limits.descriptors_soft <= limits.descriptors_hard);
        let (first, last) = limits.port_range.unwrap();
        assert!(first < last);
        let raised = Limits::raise_soft_descriptors_to_hard().unwrap();
        assert_eq!(raised.descriptors_soft, raised.descriptors_hard);
    }

    #[cfg(unix)]
    #[test]
    fn the_port_range_is_two_numbers() {
        assert_eq!(parse_port_range("32768\t60999\n"), Some((32_768, 60_999)));
        assert_eq!(parse_port_range(""), None);
        assert_eq!(parse_port_range("1"), None);
        assert_eq!(parse_port_range("1 70000"), None);
    }
}
