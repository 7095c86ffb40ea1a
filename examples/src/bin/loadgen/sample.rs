//! `loadgen sample`: what a sampler draws, before it is used.

mod keys;
mod lru;
mod mix;
mod sheet;
mod trace;
mod values;

use crate::exit::{Failure, Status};
use crate::output::write_to;
use clap::{Args, Subcommand};
use openloop_workload::Keys;
use openloop_workload::values::{LoadError, Source};
use openloop_workload::{KeysError, Values};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What is to be drawn from.
///
/// With a law alone, the draws and nothing else, one a line: loadgen sample zipf:1e6:0.99 --count 5. With a word before
/// it, what the law says of itself beside what many draws say.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SampleArgs {
    #[command(subcommand)]
    what: Option<What>,

    /// A law of keys or values: its draws, one a line
    law: Option<String>,

    /// How many draws
    #[arg(long, value_name = "N", default_value_t = 10)]
    count: u64,

    /// What everything random is drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Scatters keys over all that there are, as scrambled does behind the law
    #[arg(long)]
    scramble: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Keys: shares of the hottest, hit rates of caches
    #[command(after_help = crate::kinds::KEYS)]
    Keys {
        /// Such as zipf:1e6:0.99
        law: Keys,
        /// Shows a cache of this many entries as well; repeatable
        #[arg(long, value_name = "ENTRIES")]
        cache: Vec<u64>,
        #[command(flatten)]
        show: ShowArgs,
    },
    /// Sizes, durations and counts: mean, C_v, quantiles
    #[command(after_help = VALUES)]
    Values {
        /// Such as lognormal:mean=200,cv=1.5
        law: Source,
        #[command(flatten)]
        show: ShowArgs,
    },
    /// The kinds of request in a file for --mix: shares of requests and of work, and the requests themselves
    Mix {
        /// Such as examples/mixes/web_shop.toml
        file: PathBuf,
        /// The trace that --arrivals is to replay, whose rows name kinds or tell sizes
        #[arg(long, value_name = "FILE")]
        trace: Option<PathBuf>,
        #[command(flatten)]
        show: ShowArgs,
    },
    /// A trace for --arrivals: its rate, its bursts, its lengths, and what is odd about it
    Trace {
        /// Azure LLM, BurstGPT or plain CSV, Mooncake or Bailian JSON lines, or seconds since the start, one a line
        file: PathBuf,
        /// Shows this many rows as well
        #[arg(long, value_name = "N")]
        count: Option<usize>,
        #[command(flatten)]
        form: FormArgs,
    },
}

/// How much is drawn, and shown.
#[derive(Debug, Args)]
struct ShowArgs {
    /// What everything random is drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many draws the law is compared with
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    draws: u64,
    /// Shows the first N draws as well; alone, with --csv [default: 0; with --csv 10]
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    #[command(flatten)]
    form: FormArgs,
}

/// For whom it is written.
#[derive(Debug, Args)]
struct FormArgs {
    /// The draws alone, as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Everything as JSON, shares as fractions
    #[arg(long)]
    json: bool,
}

const VALUES: &str = "\
Laws, with their parameters by name or in this order:
  fixed:200                                 always the same
  uniform:lo=100,hi=300                     anywhere between two bounds
  exponential:200                           without memory, C_v 1
  lognormal:mean=200,cv=1.5                 mostly small, sometimes large; also by two quantiles: lognormal:p50=180,p99=900
  gamma:mean=200,cv=0.5                     of any spread, without a heavy tail
  pareto:shape=1.1,lo=100,hi=1e9            heavy tail up to a largest one
  hyperexponential:mean=200,cv=4            short or long
  empirical:100x3,250 or empirical:FILE     as measured: a CSV of values, or of value,count
  sequence:100,250,100                      as measured, in this order, again and again
  trace:size                                in the fields of a --mix: that column of the trace of --arrivals, row by row
Any of them with ,min=1 or ,max=8192 or both, to which what lies outside is moved.";

impl ShowArgs {
    fn count(&self) -> u64 {
        self.count.unwrap_or(if self.form.csv { 10 } else { 0 })
    }
}

/// Draws and shows.
pub(crate) fn run(arguments: &SampleArgs) -> Result<Status, Failure> {
    let (sheet, form) = match &arguments.what {
        None => return plain(arguments),
        Some(What::Keys { law, cache, show }) => (keys::sheet(law, cache, show), &show.form),
        Some(What::Values { law, show }) => {
            let values = law.load(Path::new("")).map_err(Failure::usage)?;
            (values::sheet(&values, show), &show.form)
        }
        Some(What::Mix { file, trace, show }) => {
            let sheet = mix::sheet(file, trace.as_deref(), show).map_err(Failure::Usage)?;
            (sheet, &show.form)
        }
        Some(What::Trace { file, count, form }) => {
            let count = count.unwrap_or(if form.csv { usize::MAX } else { 0 });
            (trace::sheet(file, count).map_err(Failure::Usage)?, form)
        }
    };
    print(|out| match form {
        FormArgs { csv: true, .. } => sheet.write_csv(out),
        FormArgs { json: true, .. } => sheet.write_json(out),
        _ => sheet.write_text(out),
    })
}

/// One draw a line.
fn plain(arguments: &SampleArgs) -> Result<Status, Failure> {
    let SampleArgs { count, seed, .. } = *arguments;
    let Some(text) = &arguments.law else {
        return Err(Failure::usage(
            "nothing to draw from: give a law, such as zipf:1e6:0.99, or keys, values, mix or trace; see loadgen sample --help",
        ));
    };
    match law(text)? {
        Law::Keys(mut keys) => {
            if arguments.scramble {
                keys = keys.scrambled(0).map_err(Failure::usage)?;
            }
            print(|out| (0..count).try_for_each(|seq| writeln!(out, "{}", keys.key(seed, seq))))
        }
        Law::Values(_) if arguments.scramble => Err(Failure::Usage(format!(
            "--scramble scatters keys, and {text} are values: leave it out"
        ))),
        Law::Values(values) => {
            print(|out| (0..count).try_for_each(|seq| writeln!(out, "{}", values.value(seed, seq))))
        }
    }
}

enum Law {
    Keys(Keys),
    Values(Values),
}

/// Both have a `uniform`: that of keys has one parameter, that of values two.
fn law(text: &str) -> Result<Law, Failure> {
    let wrong = match text.parse() {
        Ok(keys) => return Ok(Law::Keys(keys)),
        Err(wrong) => wrong,
    };
    match Values::load(text, Path::new("")) {
        Ok(values) => Ok(Law::Values(values)),
        // What is of neither is told by the one that knows its name.
        Err(of_values) => Err(match (wrong, of_values) {
            (
                KeysError::Unknown(_),
                LoadError::Values(openloop_workload::ValuesError::Unknown(_)),
            ) => Failure::Usage(format!(
                "\"{text}\" is of no law: write one of keys, such as zipf:1e6:0.99, or of values, such as lognormal:mean=200,cv=1.5"
            )),
            (KeysError::Unknown(_), of_values) => Failure::usage(of_values),
            (of_keys, _) => Failure::usage(of_keys),
        }),
    }
}

fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Status, Failure> {
    write_to(Path::new("-"), write).map_err(Failure::Machine)?;
    Ok(Status::Pass)
}
