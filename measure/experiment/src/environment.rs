//! The machine that the generator ran on, and what it did to the run.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// The machine that the generator ran on, and what it did to the run. What a platform does not tell is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Environment {
    /// Operating system.
    pub os: &'static str,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    /// What the kernel tells the time by.
    pub clock_source: Option<String>,
    /// How the frequency of the first core is governed.
    pub governor: Option<String>,
    /// Share of the machine's time that its hypervisor took away during the run.
    pub steal: Option<f64>,
    /// How often this process was stopped during the run because its share of CPU time was used up.
    pub throttled: Option<u64>,
    /// Open file descriptors before the run and after it.
    pub descriptors: Option<(u64, u64)>,
    /// How many there may be.
    pub descriptor_limit: Option<u64>,
    /// Runnable tasks on the machine, averaged over a minute, at the end of the run.
    pub load_average: Option<f64>,
    /// By how many nanoseconds more the wall clock went on during the run than the monotonic clock, of which all instants
    /// of a run are: it was set forward, or back where it is negative. An NTP daemon that keeps it slews it by up to 500 µs a
    /// second.
    pub wall_clock_moved_ns: i64,
    /// How long that was, from before the run was set up until after its drain.
    pub watched: Duration,
}

/// The readings before a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    wall: SystemTime,
    monotonic: Instant,
    ticks: Option<Ticks>,
    throttled: Option<u64>,
    descriptors: Option<u64>,
}

impl Before {
    pub(crate) fn read() -> Self {
        Before {
            wall: SystemTime::now(),
            monotonic: Instant::now(),
            ticks: Ticks::read(),
            throttled: throttled(),
            descriptors: descriptors(),
        }
    }

    /// The environment, with what has happened since.
    pub(crate) fn after(self) -> Environment {
        let steal = self.ticks.zip(Ticks::read()).and_then(|(from, to)| {
            let all = to.all.saturating_sub(from.all);
            let stolen = to.stolen.saturating_sub(from.stolen);
            (all > 0).then(|| stolen as f64 / all as f64)
        });
        let throttled = self
            .throttled
            .zip(throttled())
            .map(|(from, to)| to.saturating_sub(from));
        let watched = self.monotonic.elapsed();
        Environment {
            os: std::env::consts::OS,
            kernel: text("/proc/sys/kernel/osrelease"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            clock_source: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            steal,
            throttled,
            descriptors: self.descriptors.zip(descriptors()),
            descriptor_limit: descriptor_limit(),
            load_average: text("/proc/loadavg")
                .and_then(|text| text.split_whitespace().next()?.parse().ok()),
            wall_clock_moved_ns: moved(self.wall, watched, SystemTime::now()),
            watched,
        }
    }
}

/// By how much more a clock that read `from` has gone on than the time that has passed, in nanoseconds.
fn moved(from: SystemTime, passed: Duration, to: SystemTime) -> i64 {
    let nanos = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    match to.duration_since(from) {
        Ok(by_wall) => nanos(by_wall).saturating_sub(nanos(passed)),
        Err(back) => -nanos(back.duration().saturating_add(passed)),
    }
}

/// Clock ticks of all cores since boot.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    fn read() -> Option<Self> {
        Ticks::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guests are in user and nice.
    fn parse(stat: &str) -> Option<Self> {
        let mut words = stat.lines().next()?.split_whitespace();
        if words.next()? != "cpu" {
            return None;
        }
        let ticks: Vec<u64> = words.take(8).filter_map(|word| word.parse().ok()).collect();
        Some(Ticks {
            all: ticks.iter().sum(),
            stolen: *ticks.get(7)?,
        })
    }
}

fn text(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Of this process's own control group, which need not be the root.
fn throttled() -> Option<u64> {
    let groups = text("/proc/self/cgroup")?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let stat = text(format!("/sys/fs/cgroup{group}/cpu.stat"))?;
    let line = stat
        .lines()
        .find_map(|line| line.strip_prefix("nr_throttled "))?;
    line.parse().ok()
}

/// Open file descriptors of this process, less the one that counting them takes.
fn descriptors() -> Option<u64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    Some((count as u64).saturating_sub(1))
}

fn descriptor_limit() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(target_os = "linux"))]
    return None;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_read_from_its_own_column() {
        let ticks = Ticks::parse("cpu  100 1 20 800 5 0 4 70 9 0\ncpu0 1 2 3").unwrap();
        assert_eq!((ticks.all, ticks.stolen), (1000, 70));
        assert!(Ticks::parse("intr 5").is_none());
        assert!(Ticks::parse("cpu 1 2 3").is_none());
    }

    #[test]
    fn a_clock_that_is_set_is_told_from_time_that_passes() {
        let (from, second) = (SystemTime::now(), Duration::from_secs(1));
        assert_eq!(moved(from, second, from + second), 0);
        assert_eq!(moved(from, second, from + second * 3), 2_000_000_000);
        assert_eq!(moved(from, second * 3, from + second), -2_000_000_000);
        assert_eq!(moved(from, second, from - second), -2_000_000_000);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_opened_file_is_one_descriptor_more() {
        // Other tests open files meanwhile, so only the direction is certain for the process as a whole.
        let environment = Before::read().after();
        assert!(environment.descriptors.unwrap().0 > 0);
        assert!(environment.descriptor_limit.unwrap() > 0);
        assert!(environment.kernel.is_some());
    }
}
