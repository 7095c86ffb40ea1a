//! The flags of an experiment: what is more than one run.

use clap::Args;
use openloop_experiment::Slo;
use openloop_experiment::problem::ProblemStatement;
use openloop_sched::{Rate, parse_duration};
use openloop_workload::Values;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// How one run becomes an experiment.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Experiment")]
pub(crate) struct ExperimentArgs {
    /// The problem that the experiment is to answer, as a TOML or JSON file: it drives the run, and flags override it.
    /// See loadgen problem --template web
    #[arg(long, value_name = "FILE")]
    pub(crate) problem: Option<PathBuf>,

    /// Measures the service floor first: how long one request at a time takes. Without it that is done where an
    /// objective has multiples of S, and for a sweep
    #[arg(long)]
    pub(crate) floor: bool,

    /// How long that may take in all; 0s leaves it out, and with it the knee. A trial has ten requests in any case; where
    /// more do not fit, pauses between them are shorter
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "5m")]
    pub(crate) floor_time: Duration,

    /// The round trip to the service, where it is known: it is taken off S and off what bounds are held against
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) round_trip: Option<Duration>,

    /// Makes so many whole runs, 3 or 5, with seeds of their own, and says whether they agree [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) replicas: Option<usize>,

    /// Measures replicas that disagree again, up to so often [default: 0]
    #[arg(long, value_name = "TIMES")]
    pub(crate) retest: Option<usize>,

    /// Measures at these rates, each in a run of its own: 1000,2000,4000; or finds the highest that keeps --slo or,
    /// without one, the knee (p99<=3S), from --rate on: find
    #[arg(long, value_name = "RATES|find", conflicts_with_all = ["profile", "closed"])]
    pub(crate) sweep: Option<SweepArg>,

    /// The highest rate that --sweep find tries [default: 1000 times the first]
    #[arg(long, value_name = "RATE", requires = "sweep")]
    pub(crate) up_to: Option<Rate>,

    /// How far below the truth the answer of --sweep find may be, as a share of it [default: 0.05]
    #[arg(long, value_name = "SHARE", requires = "sweep")]
    pub(crate) resolution: Option<f64>,

    /// The most requests per second that production is expected to bring: the report then has a plan of nodes, pools and
    /// timeouts for it, from the sweep
    #[arg(long, value_name = "RATE")]
    pub(crate) peak: Option<Rate>,

    /// Past what the service can serve, and back: three tenths of --steady at --rate, three at this rate, four at --rate;
    /// says what is turned away, what the others pay, and how long it takes to recover
    #[arg(long, value_name = "RATE", conflicts_with_all = ["sweep", "replicas", "slo", "profile", "closed"])]
    pub(crate) overload: Option<Rate>,

    /// The same experiment on a simulated service, in virtual time: nothing is sent. It tells how long the experiment
    /// takes, what it can resolve, and how its report reads. Of loadgen inference that is an engine that batches
    /// continuously, unless one of the three flags below says otherwise
    #[arg(long)]
    pub(crate) rehearse: bool,

    /// How many servers the simulated service has, behind one queue [default: 1]
    #[arg(long, value_name = "N", requires = "rehearse")]
    pub(crate) servers: Option<u32>,

    /// The law of its service times in seconds (loadgen sample values --help) [default: exponential:0.001]
    #[arg(long, value_name = "LAW", requires = "rehearse")]
    pub(crate) service: Option<Values>,

    /// How many requests may wait for it; the others are turned away [default: no limit]
    #[arg(long, value_name = "N", requires = "rehearse")]
    pub(crate) waiting: Option<usize>,

    /// What the rates are given in, if not in requests: a count, and how many of it a request has on the average.
    #[arg(skip)]
    pub(crate) counted: Option<(&'static str, f64)>,

    /// What the file of `--problem` says.
    #[arg(skip)]
    pub(crate) statement: Option<ProblemStatement>,
}

/// `--sweep`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SweepArg {
    /// At these rates.
    Rates(Vec<Rate>),
    /// Until the highest is found.
    Find,
}

impl FromStr for SweepArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim() == "find" {
            return Ok(SweepArg::Find);
        }
        let rates = text.split(',').map(str::parse::<Rate>);
        let rates: Result<_, _> = rates.collect();
        rates.map(SweepArg::Rates).map_err(|error| {
            format!("{error}; --sweep takes rates, such as 1000,2000,4000, or find")
        })
    }
}

/// `--slo`: bounds in short form, or a file of them.
pub(crate) fn slo(text: &str) -> Result<Slo, String> {
    let path = Path::new(text);
    // A bound has a comparison, which no name of a file needs.
    if text.contains("<=") || text.contains(">=") || !path.is_file() {
        return text
            .parse()
            .map_err(|error: openloop_experiment::SloError| error.to_string());
    }
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    match is_json {
        true => serde_json::from_str(&text).map_err(|error| error.to_string()),
        false => Slo::from_toml(&text).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_a_list_or_a_search() {
        assert_eq!("find".parse(), Ok(SweepArg::Find));
        let Ok(SweepArg::Rates(rates)) = "1000, 2000".parse() else {
            panic!("no list");
        };
        assert_eq!(rates.len(), 2);
        let why = "1000,fast".parse::<SweepArg>().unwrap_err();
        assert!(why.contains("fast") && why.contains("find"), "{why}");
    }

    #[test]
    fn an_objective_is_bounds_or_a_file_of_them() {
        assert_eq!(slo("p99<=4S").unwrap().to_string(), "p99 <= 4S");
        assert!(slo("p99").unwrap_err().contains("p99"));
        let file = std::env::temp_dir().join(format!("openloop-slo-{}.toml", std::process::id()));
        std::fs::write(&file, Slo::TEMPLATE).unwrap();
        let read = slo(file.to_str().unwrap());
        std::fs::remove_file(&file).unwrap();
        assert!(read.unwrap().bounds().len() > 3);
    }
}
