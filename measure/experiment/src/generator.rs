//! What the generator itself cost, and how it kept its schedule.

use openloop_sched::{Offset, Pacer, Precision};
use std::time::Duration;

/// CPU time consumed so far; `None` where the platform does not tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cpu(Option<Duration>);

impl Cpu {
    /// Of the calling thread.
    pub(crate) fn of_thread() -> Self {
        #[cfg(target_os = "linux")]
        return Cpu::read(rustix::time::ClockId::ThreadCPUTime);
        #[cfg(not(target_os = "linux"))]
        return Cpu(None);
    }

    /// Of the whole process.
    pub(crate) fn of_process() -> Self {
        #[cfg(target_os = "linux")]
        return Cpu::read(rustix::time::ClockId::ProcessCPUTime);
        #[cfg(not(target_os = "linux"))]
        return Cpu(None);
    }

    #[cfg(target_os = "linux")]
    fn read(clock: rustix::time::ClockId) -> Self {
        let time = rustix::time::clock_gettime(clock);
        let secs = u64::try_from(time.tv_sec).ok();
        let nanos = u32::try_from(time.tv_nsec).ok();
        Cpu(secs
            .zip(nanos)
            .map(|(secs, nanos)| Duration::new(secs, nanos)))
    }

    pub(crate) fn since(self, before: Cpu) -> Option<Duration> {
        Some(self.0?.saturating_sub(before.0?))
    }
}

/// What one pacer did.
#[derive(Clone, Debug)]
pub(crate) struct PumpStats {
    precision: Option<Precision>,
    fallback: Option<String>,
    max_lag: Duration,
    spun: Duration,
    cpu: Option<Duration>,
    pub(crate) ended: Offset,
}

impl PumpStats {
    pub(crate) fn new<I>(pacer: &Pacer<I>) -> Self {
        PumpStats {
            precision: Some(pacer.precision()),
            fallback: pacer.fallback().map(ToString::to_string),
            max_lag: Duration::ZERO,
            spun: Duration::ZERO,
            cpu: None,
            ended: Offset::ZERO,
        }
    }

    /// Of a closed loop, which has no pacer.
    pub(crate) fn of_users(cpu: Option<Duration>, ended: Offset) -> Self {
        PumpStats {
            precision: None,
            fallback: None,
            max_lag: Duration::ZERO,
            spun: Duration::ZERO,
            cpu,
            ended,
        }
    }

    pub(crate) fn finish<I>(&mut self, pacer: &Pacer<I>, cpu: Option<Duration>, ended: Offset) {
        self.max_lag = pacer.max_lag();
        self.spun = pacer.spun();
        self.cpu = cpu;
        self.ended = ended;
    }
}

/// What the generator itself cost, and how it kept its schedule.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Generator {
    /// Whether the clock was paused: then time was simulated, and what the machine did says nothing.
    pub simulated: bool,
    /// Whether it had threads of its own: then its CPU time is known apart from the rest of the process.
    pub own_threads: bool,
    /// How many cores it could use: its threads or, on a shared runtime, those of the machine.
    pub cores: usize,
    /// How the pacer waited; `None` in a closed loop.
    pub precision: Option<Precision>,
    /// Why not as asked.
    pub fallback: Option<String>,
    /// The largest lag of any release.
    pub max_lag: Duration,
    /// CPU time while it sent; on a shared runtime, of the whole process.
    pub cpu: Option<Duration>,
    /// The part of it that went into waiting for the next instant alone.
    pub spun: Duration,
    /// For how long it sent.
    pub sending: Duration,
}

impl Generator {
    pub(crate) fn on_runtime(simulated: bool, stats: PumpStats) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Generator {
            simulated,
            ..Generator::new(false, cores, &[stats])
        }
    }

    pub(crate) fn on_threads(stats: &[PumpStats]) -> Self {
        Generator::new(true, stats.len(), stats)
    }

    fn new(own_threads: bool, cores: usize, stats: &[PumpStats]) -> Self {
        let sending = stats
            .iter()
            .map(|pump| pump.ended)
            .max()
            .unwrap_or_default();
        Generator {
            simulated: false,
            own_threads,
            cores,
            precision: stats.iter().find_map(|pump| pump.precision),
            fallback: stats.iter().find_map(|pump| pump.fallback.clone()),
            max_lag: stats
                .iter()
                .map(|pump| pump.max_lag)
                .max()
                .unwrap_or_default(),
            // A process clock is read once, whatever the number of pumps; threads add up.
            cpu: stats.iter().map(|pump| pump.cpu).sum(),
            spun: stats.iter().map(|pump| pump.spun).sum(),
            sending: sending.as_duration(),
        }
    }

    /// The share of its cores that it kept busy while it sent. Waiting by spinning is not work, and is left out.
    #[must_use]
    pub fn busy(&self) -> Option<f64> {
        let available = self.sending.as_secs_f64() * self.cores as f64;
        let work = self.cpu?.saturating_sub(self.spun).as_secs_f64();
        (available > 0.0).then(|| work / available)
    }
}
