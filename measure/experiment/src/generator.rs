//! What the generator itself cost, and how it kept its schedule.

use crate::SessionCounts;
use openloop_sched::{Offset, Pacer, Precision};
use std::time::Duration;

/// CPU time so far of a thread or of the process; `None` where the platform does not tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cpu {
    used: Option<Duration>,
    /// How long the thread could run and had no core.
    waited: Option<Duration>,
}

/// The same over a stretch of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuSpent {
    used: Option<Duration>,
    waited: Option<Duration>,
}

impl Cpu {
    /// Of the calling thread.
    pub(crate) fn of_thread() -> Self {
        #[cfg(target_os = "linux")]
        return Cpu {
            used: Cpu::read(rustix::time::ClockId::ThreadCPUTime),
            waited: Cpu::wait_of_thread(),
        };
        #[cfg(not(target_os = "linux"))]
        return Cpu {
            used: None,
            waited: None,
        };
    }

    /// Of the whole process, of whose threads nobody tells how long they waited.
    pub(crate) fn of_process() -> Self {
        #[cfg(target_os = "linux")]
        let used = Cpu::read(rustix::time::ClockId::ProcessCPUTime);
        #[cfg(not(target_os = "linux"))]
        let used = None;
        Cpu { used, waited: None }
    }

    #[cfg(target_os = "linux")]
    fn read(clock: rustix::time::ClockId) -> Option<Duration> {
        let time = rustix::time::clock_gettime(clock);
        let secs = u64::try_from(time.tv_sec).ok()?;
        let nanos = u32::try_from(time.tv_nsec).ok()?;
        Some(Duration::new(secs, nanos))
    }

    /// The second field of `schedstat`: nanoseconds on a run queue.
    #[cfg(target_os = "linux")]
    fn wait_of_thread() -> Option<Duration> {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let waited = stat.split_whitespace().nth(1)?.parse().ok()?;
        Some(Duration::from_nanos(waited))
    }

    pub(crate) fn since(self, before: Cpu) -> CpuSpent {
        let between =
            |to: Option<Duration>, from: Option<Duration>| Some(to?.saturating_sub(from?));
        CpuSpent {
            used: between(self.used, before.used),
            waited: between(self.waited, before.waited),
        }
    }
}

/// What one pacer did.
#[derive(Clone, Debug)]
pub(crate) struct PumpStats {
    precision: Option<Precision>,
    fallback: Option<String>,
    max_lag: Duration,
    spun: Duration,
    cpu: CpuSpent,
    pub(crate) ended: Offset,
    /// Whether the drain was cut short.
    pub(crate) aborted: bool,
    /// What became of the sessions, where there were any.
    pub(crate) sessions: Option<SessionCounts>,
}

impl PumpStats {
    pub(crate) fn new<I>(pacer: &Pacer<I>) -> Self {
        PumpStats {
            precision: Some(pacer.precision()),
            fallback: pacer.fallback().map(ToString::to_string),
            max_lag: Duration::ZERO,
            spun: Duration::ZERO,
            cpu: CpuSpent {
                used: None,
                waited: None,
            },
            ended: Offset::ZERO,
            aborted: false,
            sessions: None,
        }
    }

    /// Of a closed loop, which has no pacer.
    pub(crate) fn of_users(cpu: CpuSpent, ended: Offset) -> Self {
        PumpStats {
            precision: None,
            fallback: None,
            max_lag: Duration::ZERO,
            spun: Duration::ZERO,
            cpu,
            ended,
            aborted: false,
            sessions: None,
        }
    }

    pub(crate) fn finish<I>(&mut self, pacer: &Pacer<I>, cpu: CpuSpent, ended: Offset) {
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
    /// How long its threads could have run while it sent, and had no core; not known on a shared runtime.
    pub waited_for_cpu: Option<Duration>,
    /// The part of the CPU time that went into waiting for the next instant alone.
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

    /// Of a run in virtual time, which no generator could be late for.
    pub(crate) fn simulated(ended: Offset) -> Self {
        Generator {
            simulated: true,
            own_threads: false,
            cores: 1,
            precision: None,
            fallback: None,
            max_lag: Duration::ZERO,
            cpu: None,
            waited_for_cpu: None,
            spun: Duration::ZERO,
            sending: ended.as_duration(),
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
            cpu: stats.iter().map(|pump| pump.cpu.used).sum(),
            waited_for_cpu: stats.iter().map(|pump| pump.cpu.waited).sum(),
            spun: stats.iter().map(|pump| pump.spun).sum(),
            sending: sending.as_duration(),
        }
    }

    /// The share of the time it sent that its threads could have run and had no core.
    #[must_use]
    pub fn kept_waiting(&self) -> Option<f64> {
        let available = self.sending.as_secs_f64() * self.cores as f64;
        let waited = self.waited_for_cpu?.as_secs_f64();
        (available > 0.0).then(|| waited / available)
    }

    /// The share of its cores that it kept busy while it sent. Waiting by spinning is not work, and is left out.
    #[must_use]
    pub fn busy(&self) -> Option<f64> {
        let available = self.sending.as_secs_f64() * self.cores as f64;
        let work = self.cpu?.saturating_sub(self.spun).as_secs_f64();
        (available > 0.0).then(|| work / available)
    }
}
