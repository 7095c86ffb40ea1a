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

    /// How many trials the floor is measured in, 3 or more [default: 5]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) floor_trials: Option<usize>,

    /// How many requests each of them has, 10 or more, as far as they fit into a minute; the P99 of the floor, and so a
    /// multiple of it, rests on the slowest hundredth of all [default: 200, and 1000 for --sweep find]
    #[arg(long, value_name = "N")]
    pub(crate) floor_requests: Option<u32>,

    /// The round trip to the service, where it is known: it is taken off S and off what bounds are held against
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(crate) round_trip: Option<Duration>,

    /// Makes so many whole runs, 3 or 5, with seeds of their own, and says whether they agree [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) replicas: Option<usize>,

    /// Measures replicas that disagree again, up to so often; of a sweep each rate by itself [default: 0]
    #[arg(long, value_name = "TIMES")]
    pub(crate) retest: Option<usize>,

    /// Measures at these rates, each in a run of its own: 1000,2000,4000; or at shares of a known maximum:
    /// 50%,75%,90%:of=2000; or finds the highest that surely keeps --slo or, without one, the knee, from --rate on: find.
    /// What is not sure after --steady is measured for longer, up to --longest
    #[arg(long, value_name = "RATES|find", allow_hyphen_values = true, conflicts_with_all = ["profile", "closed"])]
    pub(crate) sweep: Option<SweepArg>,

    /// The highest rate that --sweep find tries [default: 1000 times the first]
    #[arg(
        long,
        value_name = "RATE",
        allow_hyphen_values = true,
        requires = "sweep"
    )]
    pub(crate) up_to: Option<Rate>,

    /// How far below the truth the answer of --sweep find may be, as a share of it [default: 0.05]
    #[arg(
        long,
        value_name = "SHARE",
        allow_hyphen_values = true,
        requires = "sweep"
    )]
    pub(crate) resolution: Option<f64>,

    /// How long --sweep find may measure one rate in all [default: 20 times --steady]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, requires = "sweep")]
    pub(crate) longest: Option<Duration>,

    /// What the knee of a sweep is: one bound that is a multiple of the floor [default: p99<=3S]
    #[arg(long, value_name = "BOUND", value_parser = knee_rule, requires = "sweep")]
    pub(crate) knee_rule: Option<Slo>,

    /// The most requests per second that production is expected to bring: the report then has a plan of nodes, pools and
    /// timeouts for it, from the sweep
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = above_zero)]
    pub(crate) peak: Option<Rate>,

    /// Past what the service can serve, and back: three tenths of --steady at --rate, three at this rate, four at --rate;
    /// says what is turned away, what the others pay, and how long it takes to recover
    #[arg(long, value_name = "RATE", conflicts_with_all = ["sweep", "replicas", "slo", "profile", "closed"])]
    pub(crate) overload: Option<Rate>,

    /// Compares this service, A, with another build of it at this address, B: four runs by turns, A, B, B, A, with the same
    /// requests at the same instants. The report is of B, and the status 1 where its median response is slower
    #[arg(long, value_name = "URL", conflicts_with_all = ["sweep", "replicas", "overload", "slo", "floor", "problem", "shard", "rehearse"])]
    pub(crate) abba: Option<String>,

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
        let rates: Result<Vec<Rate>, String> = match text.split_once(":of=") {
            Some((shares, highest)) => shares_of(shares, highest),
            None => {
                let rates = text.split(',').map(str::parse::<Rate>);
                rates
                    .map(|rate| rate.map_err(|error| error.to_string()))
                    .collect()
            }
        };
        let rates = rates.map_err(|error| {
            format!("{error}; --sweep takes rates, such as 1000,2000,4000, shares of a maximum, such as 50%,90%:of=2000, or find")
        })?;
        let mut seen = rates.clone();
        seen.sort();
        if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!(
                "{} stands twice in --sweep: a rate is repeated by --replicas",
                twice[0]
            ));
        }
        Ok(SweepArg::Rates(rates))
    }
}

/// A rate that brings something.
fn above_zero(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|error| format!("{error}"))?;
    match rate.as_per_second() > 0.0 {
        true => Ok(rate),
        false => Err(format!("a rate of {rate} brings nothing: give one above 0")),
    }
}

/// `50%,90%` of a rate.
fn shares_of(shares: &str, highest: &str) -> Result<Vec<Rate>, String> {
    let highest = above_zero(highest)?;
    let share = |text: &str| {
        let percent = text
            .trim()
            .strip_suffix('%')
            .and_then(|text| text.trim().parse::<f64>().ok());
        let percent = percent.filter(|percent| percent.is_finite() && *percent > 0.0);
        let percent =
            percent.ok_or_else(|| format!("\"{text}\" is no share above 0, such as 50%"))?;
        Rate::per_second(percent / 100.0 * highest.as_per_second())
            .map_err(|error| error.to_string())
    };
    shares.split(',').map(share).collect()
}

/// `--knee-rule`.
fn knee_rule(text: &str) -> Result<Slo, String> {
    let rule: Slo = text
        .parse()
        .map_err(|error: openloop_experiment::SloError| error.to_string())?;
    match rule.bounds() {
        [bound] if bound.needs_floor() => Ok(rule),
        _ => Err(
            "a knee is one bound that is a multiple of the floor, such as p99<=3S or p95<=2.5S"
                .to_owned(),
        ),
    }
}

/// `--slo`: bounds in short form, or a file of them.
pub(crate) fn slo(text: &str) -> Result<Slo, String> {
    let path = Path::new(text);
    // A bound has a comparison, which no name of a file needs.
    let is_bound = text.contains("<=") || text.contains(">=");
    let is_of_file = matches!(
        path.extension().and_then(|extension| extension.to_str()),
        Some("toml" | "json")
    );
    if !is_bound && is_of_file && !path.is_file() {
        return Err(format!("there is no file {text}"));
    }
    if is_bound || !path.is_file() {
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
        let shares = "50%, 90%:of=2000".parse();
        let rates = [1000.0, 1800.0].map(|rate| Rate::per_second(rate).unwrap());
        assert_eq!(shares, Ok(SweepArg::Rates(rates.to_vec())));
        for (wrong, named) in [
            ("50%,90%", "90%"),
            ("50,90:of=2000", "no share"),
            ("0%:of=2000", "above 0"),
            ("50%:of=fast", "fast"),
            ("50%,90%:of=0", "brings nothing"),
            ("1000,2000,1000", "stands twice"),
        ] {
            let why = wrong.parse::<SweepArg>().unwrap_err();
            assert!(why.contains(named), "{wrong}: {why}");
        }
        assert!(knee_rule("p95<=2.5S").is_ok());
        for wrong in ["p99<=20ms", "p99<=3S,p50<=2S", "knee"] {
            assert!(knee_rule(wrong).is_err(), "{wrong}");
        }
        let why = "1000,fast".parse::<SweepArg>().unwrap_err();
        assert!(why.contains("fast") && why.contains("find"), "{why}");
    }

    #[test]
    fn an_objective_is_bounds_or_a_file_of_them() {
        assert_eq!(slo("p99<=4S").unwrap().to_string(), "p99 <= 4S");
        assert!(slo("p99").unwrap_err().contains("p99"));
        assert!(
            slo("no/such.toml")
                .unwrap_err()
                .contains("no file no/such.toml")
        );
        let file = std::env::temp_dir().join(format!("openloop-slo-{}.toml", std::process::id()));
        std::fs::write(&file, Slo::TEMPLATE).unwrap();
        let read = slo(file.to_str().unwrap());
        std::fs::remove_file(&file).unwrap();
        assert!(read.unwrap().bounds().len() > 3);
    }
}
