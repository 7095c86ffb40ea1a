//! What the benchmarks share: flags, cores, and a scripted server on a core of its own.

// Each benchmark uses a part of it.
#![allow(dead_code)]

pub(crate) mod program;
pub(crate) mod ratio;
pub(crate) mod server;
pub(crate) mod statistics;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Display;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

use openloop_sched::parse_duration;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The core of whatever sends, and of what it starts.
const GENERATOR_CORE: usize = 0;
/// The core of whatever answers.
const SERVER_CORE: usize = 1;

/// Begins a benchmark: reads its flags (each `--name value`), pins it, and prints what its figures depend on.
///
/// `None` if this process was started to be the server, and has been it.
pub(crate) fn begin(title: &str, flags: &[(&str, &str)]) -> Result<Option<Flags>> {
    let mut arguments = std::env::args().skip(1);
    if let (Some(server::SERVE), Some(script)) = (arguments.next().as_deref(), arguments.next()) {
        pin(SERVER_CORE);
        server::serve(&script)?;
        return Ok(None);
    }
    let flags = Flags::read(std::env::args().skip(1), flags)?;
    let cores = if pin(SERVER_CORE) && pin(GENERATOR_CORE) {
        format!("generator on core {GENERATOR_CORE}, server on core {SERVER_CORE}")
    } else {
        "not pinned: two cores are needed, and Linux".to_owned()
    };
    println!("{title}\n{cores}, load average {}", load_average());
    if cfg!(debug_assertions) {
        println!("not optimised: these figures say only that it runs");
    }
    println!("{flags}\n");
    Ok(Some(flags))
}

/// Ends a benchmark that has printed everything: it fails, by its exit status, if something does not hold.
pub(crate) fn end(broken: &[String]) -> Result<()> {
    if broken.is_empty() {
        return Ok(());
    }
    Err(broken.join("; ").into())
}

/// What ran on this machine, runnable tasks averaged over 1 minute: it moves every figure beside it.
pub(crate) fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}

/// Binds this thread, and whatever it starts, to one core; whether that is so.
fn pin(core: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_setaffinity};
        let mut set = CpuSet::new();
        set.set(core);
        sched_setaffinity(None, &set).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = core;
        false
    }
}

/// Starts something on the core of whatever answers.
pub(crate) fn on_the_servers_core<T>(start: impl FnOnce() -> T) -> T {
    pin(SERVER_CORE);
    let started = start();
    pin(GENERATOR_CORE);
    started
}

/// Binds another process to the server's core; whether that is so.
pub(crate) fn pin_server(process: i32) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::Pid;
        use rustix::thread::{CpuSet, sched_setaffinity};
        let mut set = CpuSet::new();
        set.set(SERVER_CORE);
        Pid::from_raw(process).is_some_and(|process| sched_setaffinity(Some(process), &set).is_ok())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = process;
        false
    }
}

/// The flags of a benchmark.
#[derive(Debug)]
pub(crate) struct Flags(BTreeMap<String, String>);

impl Flags {
    fn read(mut words: impl Iterator<Item = String>, known: &[(&str, &str)]) -> Result<Self> {
        let defaults = known
            .iter()
            .map(|(name, default)| ((*name).to_owned(), (*default).to_owned()));
        let mut flags: BTreeMap<String, String> = defaults.collect();
        while let Some(word) = words.next() {
            // What cargo adds by itself.
            if word == "--bench" {
                continue;
            }
            let Some(value) = flags.get_mut(&word) else {
                let names: Vec<_> = flags.keys().map(String::as_str).collect();
                return Err(format!("unknown {word}; there are {}", names.join(", ")).into());
            };
            *value = words
                .next()
                .ok_or_else(|| format!("{word} needs a value"))?;
        }
        Ok(Flags(flags))
    }

    fn text(&self, name: &str) -> Result<&str> {
        let text = self.0.get(name).map(String::as_str);
        text.ok_or_else(|| format!("there is no flag {name}").into())
    }

    pub(crate) fn number<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T> {
        let text = self.text(name)?;
        let parsed = text.parse();
        parsed.map_err(|error| format!("{name} {text}: {error}").into())
    }

    /// How many rounds, or runs: with none, nothing could fail.
    pub(crate) fn count(&self, name: &str) -> Result<u64> {
        Ok(self.number::<NonZeroU64>(name)?.get())
    }

    /// Numbers with commas between them.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f64>> {
        let numbers = self.text(name)?.split(',').map(str::parse);
        Ok(numbers.collect::<std::result::Result<_, _>>()?)
    }

    /// A duration such as `20s`.
    pub(crate) fn duration(&self, name: &str) -> Result<Duration> {
        Ok(parse_duration(self.text(name)?)?)
    }
}

impl Display for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let flags: Vec<_> = self
            .0
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        f.write_str(&flags.join(" "))
    }
}
