//! The flags of `loadgen inference`.

use crate::cli::LoadArgs;
use crate::connections::ConnectionsArg;
use clap::Args;
use openloop_experiment::{Bound, Slo, Statistic};
use openloop_http::Builder;
use openloop_inference::{Api, Goodput, MetricNames, Tls};
use openloop_sched::Rate;
use openloop_workload::Values;
use openloop_workload::prompts::{PrefixTree, Prompts, Vocabulary};
use openloop_workload::sessions::Sessions;
use openloop_workload::values::Source;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What a chat of many users looks like: short on the whole, and now and then long.
const INPUT: &str = "lognormal:mean=500,cv=1,min=1,max=4096";
const OUTPUT: &str = "lognormal:mean=128,cv=0.8,min=1,max=1024";

/// What is asked of a language-model server, and over which connections.
#[derive(Clone, Debug, Args)]
pub(crate) struct InferenceArgs {
    /// The server, such as http://127.0.0.1:8000; the paths of OpenAI's interface are added
    pub(crate) url: String,

    /// The model, as the server lists it under /v1/models
    #[arg(long, value_name = "NAME", help_heading = "Request")]
    pub(crate) model: String,

    /// Which interface: chat, text, or ids:FIRST..END for prompts of token ids from that range, which have exactly the
    /// length asked for
    #[arg(
        long,
        value_name = "KIND",
        default_value = "chat",
        help_heading = "Request"
    )]
    pub(crate) api: ApiArg,

    /// Tokens of a prompt without its shared prefix, by a law (loadgen sample values --help); with --sessions those of
    /// each user text [default: lognormal:mean=500,cv=1,min=1,max=4096]
    #[arg(long, value_name = "LAW", help_heading = "Request")]
    pub(crate) input_tokens: Option<Source>,

    /// Tokens of an answer, by a law: its max_tokens [default: lognormal:mean=128,cv=0.8,min=1,max=1024]
    #[arg(long, value_name = "LAW", help_heading = "Request")]
    pub(crate) output_tokens: Option<Source>,

    /// Shared prefixes ahead of the prompts, chosen by Zipf's law: COUNT:TOKENS:EXPONENT, such as 20:512:1
    #[arg(long, value_name = "PREFIXES", help_heading = "Request")]
    pub(crate) prefixes: Option<Prefixes>,

    /// What the later turns of --sessions go on from: scripted answers have the lengths asked for and are the same in
    /// every run, so that requests depend on the seed alone; real ones are what the model said
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "scripted",
        help_heading = "Request"
    )]
    pub(crate) answers: AnswersArg,

    /// Prompts of another number have nothing in common with those of a run before, so that no cache helps. Each run of
    /// one invocation has its own anyway
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Request")]
    pub(crate) nonce: u64,

    /// Asks the server not to stop before the length asked for (vLLM, SGLang, llama.cpp)
    #[arg(long, help_heading = "Request")]
    pub(crate) ignore_eos: bool,

    /// A field of every request, as name=JSON: temperature=0.7, top_p=0.9; repeatable
    #[arg(long, value_name = "NAME=JSON", value_parser = field, help_heading = "Request")]
    pub(crate) field: Vec<(String, Value)>,

    /// Answers come whole: then there is no first token
    #[arg(long, help_heading = "Request")]
    pub(crate) no_stream: bool,

    /// Does not ask for usage at the end of a stream, for servers that refuse that
    #[arg(long, help_heading = "Request")]
    pub(crate) no_usage: bool,

    /// Limits answers by max_completion_tokens instead of max_tokens
    #[arg(long, help_heading = "Request")]
    pub(crate) max_completion_tokens: bool,

    /// A file with the API key
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub(crate) api_key_file: Option<PathBuf>,

    /// A header as "name: value"; repeatable
    #[arg(long, value_name = "HEADER", value_parser = header, help_heading = "Request")]
    pub(crate) header: Vec<(String, String)>,

    /// What --rate, --sweep, --up-to, --overload and --peak count: requests, or output-tokens, of which a request has the
    /// mean of --output-tokens
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "requests",
        help_heading = "When requests start"
    )]
    pub(crate) rates_in: RatesIn,

    /// What an answer must keep to be good, such as "ttft<=200ms,tpot<=25ms": the report then has goodput, the share and
    /// the rate of all arrivals that do, and --slo may bound it: goodput>=99% or goodput>=40/s. An objective may say it
    /// itself: --slo "goodput(ttft<=200ms,tpot<=25ms)>=99%"
    #[arg(long, value_name = "BOUNDS", help_heading = "Verdict")]
    pub(crate) goodput: Option<Goodput>,

    /// Shows the metrics once more under the names of another tool: vllm, sglang, aiperf or guidellm
    #[arg(long, value_name = "TOOL", help_heading = "Output")]
    pub(crate) metric_names: Option<MetricNames>,

    /// Where the server tells of itself, each second through the run; none for not at all
    /// [default: /metrics of the server]
    #[arg(long, value_name = "URL|none", help_heading = "Output")]
    pub(crate) metrics_url: Option<String>,

    /// Connections, opened before the run and shared; or per-in-flight: as many as there are requests in flight
    #[arg(
        long,
        value_name = "N|per-in-flight",
        default_value = "per-in-flight",
        help_heading = "Connections"
    )]
    pub(crate) connections: ConnectionsArg,

    /// Trusts the certificates of this PEM file and no others
    #[arg(long, value_name = "FILE", help_heading = "Connections")]
    pub(crate) ca: Option<PathBuf>,

    /// Takes any certificate: for test servers only
    #[arg(long, conflicts_with = "ca", help_heading = "Connections")]
    pub(crate) insecure: bool,

    /// Whether the lengths or the prefixes of prompts are those of the problem.
    #[arg(skip)]
    pub(crate) is_stated: bool,

    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

/// `--answers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AnswersArg {
    Scripted,
    Real,
}

/// `--rates-in`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RatesIn {
    Requests,
    OutputTokens,
}

/// `--api`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ApiArg(pub(crate) Api);

impl FromStr for ApiArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let api = match (text, text.strip_prefix("ids:")) {
            ("chat", _) => Api::Chat,
            ("text", _) => Api::Text,
            (_, Some(range)) => {
                let ids = || {
                    let (first, end) = range.split_once("..")?;
                    Some(first.parse().ok()?..end.parse().ok()?)
                };
                let ids = ids().ok_or("write the ids as ids:1000..30000")?;
                Api::TokenIds(Vocabulary::new(ids).map_err(|error| error.to_string())?)
            }
            _ => return Err("write chat, text or ids:FIRST..END".to_owned()),
        };
        Ok(ApiArg(api))
    }
}

impl fmt::Display for InferenceApi<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Api::Chat => "chat completions",
            Api::Text => "text completions",
            _ => "completions of token ids",
        })
    }
}

/// An interface, for people.
struct InferenceApi<'a>(&'a Api);

impl fmt::Display for ApiArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        InferenceApi(&self.0).fmt(f)
    }
}

/// `--prefixes`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prefixes(pub(crate) PrefixTree);

impl FromStr for Prefixes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<_> = text.split(':').collect();
        let [count, tokens, skew] = parts[..] else {
            return Err("write COUNT:TOKENS:EXPONENT, such as 20:512:1".to_owned());
        };
        let (count, tokens): (u64, u32) = (number(count)?, number(tokens)?);
        let skew = number(skew)?;
        PrefixTree::flat(count, tokens, skew)
            .map(Prefixes)
            .map_err(|error| error.to_string())
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        format!("\"{text}\" is no such number: write COUNT:TOKENS:EXPONENT, such as 20:512:1")
    })
}

fn field(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("write name=JSON, such as temperature=0.7")?;
    // A word that is no JSON is a text.
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((name.trim().to_owned(), value))
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or("write name: value, such as \"x-route: a\"")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl InferenceArgs {
    /// Makes rates of requests out of rates of tokens, where they are given in those; a sweep keeps its own unit.
    ///
    /// # Errors
    /// Where there is no rate, or none that lengths say anything of.
    pub(crate) fn convert(&mut self) -> Result<(), String> {
        if self.rates_in == RatesIn::Requests {
            return Ok(());
        }
        let schedule = &self.load.schedule;
        if schedule.profile.is_some() || schedule.closed.is_some() {
            return Err(
                "--rates-in output-tokens is for --rate and --sweep: give one of these".to_owned(),
            );
        }
        if matches!(schedule.arrivals, Some(crate::arrivals::Source::Trace(_))) {
            return Err("a trace has rates of its own: leave out --rates-in".to_owned());
        }
        let (_, output) = self.lengths()?;
        let prompts = Prompts::new(output.clone(), output).map_err(|error| error.to_string())?;
        let mut each = prompts.mean_output_tokens();
        if let Some(turns) = &schedule.sessions {
            let turns = turns
                .load(Path::new(""))
                .map_err(|error| error.to_string())?;
            let one = Values::load("fixed:0", Path::new("")).map_err(|error| error.to_string())?;
            let sessions = Sessions::new(turns, one).map_err(|error| error.to_string())?;
            each *= sessions.mean_requests_per_session();
        }
        let load = &mut self.load;
        for rate in [
            &mut load.schedule.rate,
            &mut load.experiment.overload,
            &mut load.experiment.peak,
        ]
        .into_iter()
        .flatten()
        {
            *rate = Rate::per_second(rate.as_per_second() / each).map_err(|error| {
                format!("{rate} of output tokens, of which a request has {each:.1}: {error}")
            })?;
        }
        load.experiment.counted = Some(("output_tokens", each));
        Ok(())
    }

    /// What an answer must keep to be good, by the flag or the objective; nothing where neither says it.
    ///
    /// # Errors
    /// Where they say different things, or an objective bounds goodput and nobody says what is good.
    pub(crate) fn good(&self) -> Result<Goodput, String> {
        let mut good = self.goodput.clone();
        let bounds = self.load.verdict.slo.iter().flat_map(Slo::bounds);
        let of_goodput =
            |bound: &&Bound| matches!(bound.statistic, Statistic::Goodput | Statistic::GoodputRate);
        for bound in bounds.filter(of_goodput) {
            let said = match &bound.good {
                Some(text) => Some(text.parse().map_err(|error| format!("{bound}: {error}"))?),
                None => None,
            };
            match (&good, said) {
                (None, None) => {
                    return Err(format!(
                        "{bound}: which answers are good is not said: give --goodput \"ttft<=200ms,tpot<=25ms\""
                    ));
                }
                (Some(one), Some(other)) if *one != other => {
                    return Err(format!(
                        "a run tells good answers by one measure, and there are two, {one} and {other}: leave one out"
                    ));
                }
                (_, said) => good = good.or(said),
            }
        }
        if good.is_some() && self.no_stream {
            return Err(
                "without a stream there is no first token to bound: leave out goodput or --no-stream"
                    .to_owned(),
            );
        }
        Ok(good.unwrap_or_default())
    }

    /// The laws of the lengths of prompts and answers.
    pub(crate) fn lengths(&self) -> Result<(Values, Values), String> {
        let law = |given: &Option<Source>, default: &str| {
            let text = given.as_ref().map_or(default.to_owned(), Source::to_string);
            Values::load(&text, Path::new("")).map_err(|error| error.to_string())
        };
        Ok((
            law(&self.input_tokens, INPUT)?,
            law(&self.output_tokens, OUTPUT)?,
        ))
    }

    pub(crate) fn api_key(&self) -> Result<Option<String>, String> {
        let Some(file) = &self.api_key_file else {
            return Ok(None);
        };
        std::fs::read_to_string(file)
            .map(|key| Some(key.trim().to_owned()))
            .map_err(|error| format!("{} cannot be read: {error}", file.display()))
    }

    /// With the headers and the key of the requests, for what else the server is asked.
    pub(super) fn as_who_asks(&self, mut http: Builder) -> Builder {
        for (name, value) in &self.header {
            http = http.header(name, value);
        }
        if let Some(key) = self.api_key().ok().flatten() {
            http = http.header("authorization", format!("Bearer {key}"));
        }
        http
    }

    /// The certificates to trust; `None` for those of this machine.
    pub(crate) fn tls(&self) -> Result<Option<Tls>, String> {
        crate::connections::tls(self.ca.as_deref(), self.insecure)
    }

    /// What the flags must be together.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.connections.check(self.load.schedule.threads)?;
        if self.answers == AnswersArg::Real && matches!(self.api.0, Api::TokenIds(_)) {
            return Err(
                "no server sends the ids of its answer: leave out --answers real, or take --api chat or text".to_owned(),
            );
        }
        self.good().map(drop)
    }
}
