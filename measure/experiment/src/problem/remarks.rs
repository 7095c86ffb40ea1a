//! What a statement leaves out, what is doubtful in it, and what was found otherwise.

use super::{
    Cache, Interconnect, Observed, Periodic, ProblemStatement, Purpose, Tenancy, WorkloadStatement,
};
use crate::{Lifecycle, Metric, Preflight, Run};
use openloop_sched::Arrivals;
use std::time::Duration;

/// How much more bandwidth than needed there should be.
const NETWORK: f64 = 10.0;
/// By what factor S may be another than expected.
const EXPECTED: f64 = 1.5;
/// Time taken by the hypervisor that dedicated machines do not show.
const STEAL: f64 = 0.01;

/// A remark on a statement: what it is about, and what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Remark {
    /// Which field: `environment.isolated`.
    pub about: &'static str,
    /// What about it.
    pub standing: Standing,
    /// In a sentence.
    pub why: String,
}

/// What a remark says of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// It was left out.
    Missing,
    /// What it says does not serve the purpose.
    Doubtful,
    /// What it says was found.
    Confirmed,
    /// Something else was found.
    Contradicted,
}

impl Standing {
    /// Name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Standing::Missing => "missing",
            Standing::Doubtful => "doubtful",
            Standing::Confirmed => "confirmed",
            Standing::Contradicted => "contradicted",
        }
    }
}

/// Remarks in the order in which they are made.
#[derive(Default)]
struct Remarks(Vec<Remark>);

impl Remarks {
    fn add(&mut self, standing: Standing, about: &'static str, why: impl Into<String>) {
        let why = why.into();
        self.0.push(Remark {
            about,
            standing,
            why,
        });
    }

    fn missing(&mut self, is_missing: bool, about: &'static str, why: &str) {
        if is_missing {
            self.add(Standing::Missing, about, why);
        }
    }

    fn doubtful(&mut self, is_doubtful: bool, about: &'static str, why: impl Into<String>) {
        if is_doubtful {
            self.add(Standing::Doubtful, about, why);
        }
    }

    fn found(&mut self, holds: bool, about: &'static str, why: impl Into<String>) {
        let standing = match holds {
            true => Standing::Confirmed,
            false => Standing::Contradicted,
        };
        self.add(standing, about, why);
    }
}

impl ProblemStatement {
    /// What the statement leaves out, by name, and what in it does not serve its purpose: before the run.
    #[must_use]
    pub fn remarks(&self) -> Vec<Remark> {
        let mut remarks = Remarks::default();
        self.on_objective(&mut remarks);
        self.on_environment(&mut remarks);
        self.on_objectives(&mut remarks);
        self.on_workload(&mut remarks);
        self.on_load(&mut remarks);
        self.on_protocol(&mut remarks);
        remarks.0
    }

    fn on_objective(&self, remarks: &mut Remarks) {
        let objective = &self.objective;
        remarks.missing(
            objective.purpose.is_none(),
            "objective.purpose",
            "say what the experiment is for: capacity, slo_gate or resilience",
        );
        remarks.missing(
            objective.failure_modes.is_empty(),
            "objective.failure_modes",
            "say what is expected to run out first, to be held against what is seen",
        );
    }

    fn on_environment(&self, remarks: &mut Remarks) {
        let environment = &self.environment;
        remarks.missing(
            environment.service.is_none(),
            "environment.service",
            "say which release on which cores and memory is measured: figures mean nothing without",
        );
        remarks.missing(
            environment.isolated.is_none(),
            "environment.isolated",
            "say whether the generator has a host of its own",
        );
        remarks.doubtful(
            environment.isolated == Some(false),
            "environment.isolated",
            "the generator takes cores and caches from the service: move it to a host of its own",
        );
        remarks.missing(
            environment.tenancy.is_none(),
            "environment.tenancy",
            "say whether the machines are dedicated (runs agree within 3 %) or shared (10 %)",
        );
        match (&environment.network, &environment.expected_bandwidth) {
            (Some(network), Some(expected)) => {
                let share = network.bits_per_second() / expected.bits_per_second();
                remarks.doubtful(
                    share < NETWORK,
                    "environment.network",
                    format!(
                        "{} are only {share:.1} times the expected {}: {NETWORK:.0} times are needed for the network not to queue",
                        **network, **expected
                    ),
                );
            }
            (network, expected) => {
                remarks.missing(
                    network.is_none(),
                    "environment.network",
                    "say how much bandwidth there is to the service: 10 times the expected is needed",
                );
                remarks.missing(
                    expected.is_none(),
                    "environment.expected_bandwidth",
                    "say how much bandwidth the load will need",
                );
            }
        }
        if environment.gpus.is_some_and(|gpus| gpus > 1) {
            remarks.missing(
                environment.interconnect.is_none(),
                "environment.interconnect",
                "say what connects the accelerators: nvlink, nvswitch, pcie or other",
            );
            remarks.doubtful(
                environment.interconnect == Some(Interconnect::Pcie),
                "environment.interconnect",
                "tensor parallelism over PCIe bridges measures their congestion: use NVLink or NVSwitch",
            );
        }
        remarks.missing(
            environment.periodic.is_none(),
            "environment.periodic",
            "say what the service does from time to time by itself (GC, checkpoints, WAL flushes), or [] for nothing",
        );
        self.on_periodic(remarks);
    }

    /// Whether the measurement is long enough to hold what happens from time to time.
    fn on_periodic(&self, remarks: &mut Remarks) {
        let plan = self.plan().ok().and_then(|plan| plan.build().ok());
        for Periodic { event, every } in self.environment.periodic.iter().flatten() {
            let preflight = plan.as_ref().map(Preflight::new);
            let hints = preflight.map(|preflight| preflight.periodic(event, **every).hints());
            let hints = hints.into_iter().flatten();
            for hint in hints.filter(|hint| hint.name == "event_of_period") {
                remarks.add(Standing::Doubtful, "lifecycle.steady", hint.text);
            }
        }
    }

    fn on_objectives(&self, remarks: &mut Remarks) {
        let gate = self.objective.purpose == Some(Purpose::SloGate);
        remarks.missing(
            self.slo.is_none(),
            "slo",
            match gate {
                true => {
                    "a gate without bounds lets everything through: [\"p99<=4S\", \"errors<=0.1%\"]"
                }
                false => "say what must be kept: [\"p50<=1.5S\", \"p95<=3S\", \"p99<=4S\"]",
            },
        );
        remarks.missing(
            self.floor.trials == Some(0) && self.floor.expected.is_none(),
            "floor",
            "without the service floor S nobody knows whether bounds in milliseconds are loose or impossible",
        );
    }

    fn on_workload(&self, remarks: &mut Remarks) {
        let workload = &self.workload;
        let WorkloadStatement {
            keys,
            mix,
            input_tokens,
            output_tokens,
            ..
        } = workload;
        if input_tokens.is_some() || output_tokens.is_some() || self.environment.gpus.is_some() {
            remarks.missing(
                input_tokens.is_none(),
                "workload.input_tokens",
                "say how long prompts are: fixed ones hide head-of-line blocking and fragmentation",
            );
            remarks.missing(
                output_tokens.is_none(),
                "workload.output_tokens",
                "say how long answers are: prefill and decode use different parts of the machine",
            );
            remarks.missing(
                workload.prefix_reuse.is_none(),
                "workload.prefix_reuse",
                "say which share of prompt tokens is shared with earlier prompts",
            );
        } else {
            remarks.missing(
                keys.is_none() && mix.is_none(),
                "workload.keys",
                "one request, sent again and again, measures a cache: say which keys, or which mix, are asked for",
            );
            remarks.missing(
                workload.service_cv.is_none() && mix.is_none(),
                "workload.service_cv",
                "waits grow with (1 + C_v^2)/2: say how much service times vary in production",
            );
            remarks.missing(
                workload.read_share.is_none() && mix.is_none(),
                "workload.read_share",
                "reads and writes use different paths and locks: say which share only reads",
            );
        }
        remarks.missing(
            workload.cache.is_none(),
            "workload.cache",
            "say what the caches hold when the measurement begins: cold, warm or busted",
        );
        let lifecycle = self.lifecycle.or(Lifecycle::default());
        remarks.doubtful(
            workload.cache == Some(Cache::Warm) && lifecycle.warm_up.is_zero(),
            "workload.cache",
            "caches are said to be warm, and lifecycle.warm_up is 0",
        );
    }

    fn on_load(&self, remarks: &mut Remarks) {
        let load = &self.load;
        remarks.doubtful(
            load.users.is_some() && load.closed_because.is_none(),
            "load.users",
            "a closed loop hides what a service does under load that does not wait: say in load.closed_because why it is right here",
        );
        let clockwork = load.arrivals.as_ref().map(|arrivals| **arrivals);
        remarks.doubtful(
            clockwork == Some(Arrivals::Constant),
            "load.arrivals",
            "arrivals like clockwork take away the queueing that chance makes: use poisson, or gamma:CV",
        );
        remarks.missing(
            load.timeout.is_none(),
            "load.timeout",
            "say when a user gives up: without it an overloaded service is waited for until the end of the drain",
        );
        remarks.missing(
            load.peak.is_none() && self.objective.purpose == Some(Purpose::Capacity),
            "load.peak",
            "say which peak is to be carried, to size for it",
        );
    }

    fn on_protocol(&self, remarks: &mut Remarks) {
        let purpose = self.objective.purpose;
        remarks.missing(
            self.sweep.is_none() && purpose == Some(Purpose::Capacity),
            "sweep",
            "one rate shows no knee: give sweep.rates, or sweep.find = true",
        );
        remarks.missing(
            self.resilience.is_none() && purpose == Some(Purpose::Resilience),
            "resilience",
            "say how far past its limit the service is driven, and how it may degrade: resilience.above",
        );
        remarks.missing(
            self.replicas.runs.is_none() && self.resilience.is_none(),
            "replicas.runs",
            "say how many whole lifecycles there are: one run shows no noise, 3 or 5 do",
        );
        remarks.doubtful(
            self.replicas.runs == Some(1),
            "replicas.runs",
            "one run shows no noise: make 3 or 5",
        );
        let (stated, careful) = (
            self.lifecycle.or(Lifecycle::default()),
            Lifecycle::default(),
        );
        for (about, stated, careful, why) in [
            (
                "lifecycle.ramp_up",
                stated.ramp_up,
                careful.ramp_up,
                "a jump makes backlogs of connections that growing traffic does not",
            ),
            (
                "lifecycle.warm_up",
                stated.warm_up,
                careful.warm_up,
                "compilers, pools and caches take that long to settle",
            ),
            (
                "lifecycle.steady",
                stated.steady,
                careful.steady,
                "pauses and checkpoints take that long to show",
            ),
            (
                "lifecycle.cooldown",
                stated.cooldown,
                careful.cooldown,
                "sudden ends look like failures",
            ),
        ] {
            let short = self.load.profile.is_none() && stated < careful;
            remarks.doubtful(
                short,
                about,
                format!("{stated:?} are shorter than {careful:?}: {why}"),
            );
        }
    }

    /// What the statement says of the environment and the floor, held against what was found.
    #[must_use]
    pub fn judged(&self, observed: &Observed<'_>) -> Vec<Remark> {
        let mut remarks = Remarks::default();
        self.judge_floor(observed, &mut remarks);
        let live = observed
            .runs
            .iter()
            .filter(|run| !run.generator().simulated);
        for run in live {
            self.judge_isolation(run, &mut remarks);
            self.judge_tenancy(run, &mut remarks);
            self.judge_bandwidth(run, &mut remarks);
        }
        // Of several runs, the worst each.
        let mut remarks = remarks.0;
        remarks.sort_by_key(|remark| (remark.about, remark.standing == Standing::Confirmed));
        remarks.dedup_by_key(|remark| remark.about);
        remarks
    }

    fn judge_floor(&self, observed: &Observed<'_>, remarks: &mut Remarks) {
        let measured = observed.floor.filter(|floor| floor.trials() > 0);
        let measured = measured.and_then(|floor| floor.s_ns(None, &Metric::Response));
        if let (Some(expected), Some(s)) = (&self.floor.expected, measured) {
            let ratio = s / expected.as_nanos() as f64;
            remarks.found(
                (1.0 / EXPECTED..=EXPECTED).contains(&ratio),
                "floor.expected",
                format!(
                    "S was measured as {:.3} ms, {ratio:.2} times the expected",
                    s / 1e6
                ),
            );
        }
    }

    fn judge_isolation(&self, run: &Run, remarks: &mut Remarks) {
        let target = run.plan().target();
        let (Some(isolated), Some(_)) = (self.environment.isolated, target.name()) else {
            return;
        };
        let shares = target.shares_host();
        let found = match shares {
            true => "the service runs on the generator's own host",
            false => "the service runs on another host",
        };
        remarks.found(isolated != shares, "environment.isolated", found);
    }

    fn judge_tenancy(&self, run: &Run, remarks: &mut Remarks) {
        let steal = run.environment().steal;
        if let (Some(Tenancy::Dedicated), Some(steal)) = (self.environment.tenancy, steal) {
            remarks.found(
                steal <= STEAL,
                "environment.tenancy",
                format!(
                    "the hypervisor took {:.2} % of the generator's time for others",
                    steal * 100.0
                ),
            );
        }
    }

    /// What adapters count as bytes are those of the answers: the least that went over the network.
    fn judge_bandwidth(&self, run: &Run, remarks: &mut Remarks) {
        let steady = run.snapshot().steady();
        let bytes = steady.counts().find(|(name, _)| *name == "bytes");
        let length = run.steady_length();
        let Some((_, bytes)) = bytes.filter(|_| length > Duration::ZERO) else {
            return;
        };
        let bits = bytes as f64 * 8.0 / length.as_secs_f64();
        let found = format!("answers took {:.3} Mbit/s", bits / 1e6);
        if let Some(expected) = &self.environment.expected_bandwidth {
            let holds = bits <= expected.bits_per_second();
            remarks.found(holds, "environment.expected_bandwidth", found.clone());
        }
        if let Some(network) = &self.environment.network {
            let holds = bits * NETWORK <= network.bits_per_second();
            remarks.found(holds, "environment.network", found);
        }
    }
}
