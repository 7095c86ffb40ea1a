//! What the server counted, beside what was asked for.

use serde::{Deserialize, Serialize};

use super::Prompt;
use crate::traces::Spread;

/// What a server counted of one request, as far as it says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt: `usage.prompt_tokens`.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer: `usage.completion_tokens`.
    pub output_tokens: Option<u64>,
    /// Tokens of the prompt that its cache knew: `usage.prompt_tokens_details.cached_tokens`.
    pub cached_tokens: Option<u64>,
}

/// Collects what the server counted of each request, beside what was asked for: 32 bytes a request.
///
/// Only the server's tokenizer knows how long a prompt is, and only the server how long its answer became. A benchmark
/// whose answers are shorter than asked for, because the model stopped on its own, measured another load than it says.
///
/// ```
/// use openloop_workload::prompts::{Achieved, Prompts, Usage};
///
/// let prompts = Prompts::new("fixed:100".parse()?, "fixed:50".parse()?)?;
/// let mut achieved = Achieved::default();
/// for seq in 0..10 {
///     // Ten tokens of chat template, and answers that end early.
///     let usage = Usage { input_tokens: Some(110), output_tokens: Some(40), cached_tokens: None };
///     achieved.record(&prompts.prompt(7, seq), usage);
/// }
/// let told = achieved.summary();
/// assert_eq!(told.input.map(|input| input.ratio), Some(1.1));
/// assert_eq!(told.output.map(|output| (output.ratio, output.as_asked)), Some((0.8, 0)));
/// assert_eq!(told.cached, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Achieved {
    requests: u64,
    input: Vec<Pair>,
    output: Vec<Pair>,
    cached: Totals,
}

/// A length asked for, and the one that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    asked: u64,
    achieved: u64,
}

/// Sums over the requests that told how many tokens were cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    requests: u64,
    shared: u64,
    asked: u64,
    cached: u64,
    achieved: u64,
}

/// What was asked for and what was achieved, of all requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AchievedSummary {
    /// How many requests were recorded.
    pub requests: u64,
    /// Prompts, of the requests whose prompt was counted; `None` where none was.
    pub input: Option<Agreement>,
    /// Answers, of the requests whose answer was counted; `None` where none was.
    pub output: Option<Agreement>,
    /// The cache, over the requests of which prompt and cached tokens were counted; `None` where there are none.
    pub cached: Option<CachedShare>,
}

/// Lengths asked for beside lengths achieved, of the same requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Agreement {
    /// The lengths asked for.
    pub asked: Spread,
    /// The lengths the server counted.
    pub achieved: Spread,
    /// All tokens achieved over all asked for.
    pub ratio: f64,
    /// How many requests had exactly what was asked for.
    pub as_asked: u64,
}

/// Shares of input tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CachedShare {
    /// Of how many requests.
    pub requests: u64,
    /// The share that other requests have as well: what an endless warm cache would hit.
    pub shared: f64,
    /// The share that the server's cache hit.
    pub cached: f64,
}

impl Achieved {
    /// Takes what the server counted of the request with this prompt.
    pub fn record(&mut self, prompt: &Prompt, usage: Usage) {
        let asked = prompt.input_tokens();
        self.requests += 1;
        if let Some(achieved) = usage.input_tokens {
            self.input.push(Pair { asked, achieved });
            if let Some(cached) = usage.cached_tokens {
                self.cached.requests += 1;
                self.cached.shared += u64::from(prompt.shared_tokens);
                self.cached.asked += asked;
                self.cached.cached += cached;
                self.cached.achieved += achieved;
            }
        }
        if let Some(achieved) = usage.output_tokens {
            let asked = u64::from(prompt.output_tokens);
            self.output.push(Pair { asked, achieved });
        }
    }

    /// Takes what another has collected: of another thread or machine.
    pub fn merge(&mut self, other: &Achieved) {
        self.requests += other.requests;
        self.input.extend_from_slice(&other.input);
        self.output.extend_from_slice(&other.output);
        self.cached.requests += other.cached.requests;
        self.cached.shared += other.cached.shared;
        self.cached.asked += other.cached.asked;
        self.cached.cached += other.cached.cached;
        self.cached.achieved += other.cached.achieved;
    }

    /// All of it in some numbers.
    #[must_use]
    pub fn summary(&self) -> AchievedSummary {
        let share = |part: u64, all: u64| {
            if all == 0 {
                0.0
            } else {
                part as f64 / all as f64
            }
        };
        let cached = self.cached;
        AchievedSummary {
            requests: self.requests,
            input: Agreement::of(&self.input),
            output: Agreement::of(&self.output),
            cached: (cached.requests > 0).then(|| CachedShare {
                requests: cached.requests,
                shared: share(cached.shared, cached.asked),
                cached: share(cached.cached, cached.achieved),
            }),
        }
    }
}

impl Agreement {
    fn of(pairs: &[Pair]) -> Option<Self> {
        let asked = Spread::of(pairs.iter().map(|pair| pair.asked))?;
        let achieved = Spread::of(pairs.iter().map(|pair| pair.achieved))?;
        let as_asked = pairs.iter().filter(|pair| pair.asked == pair.achieved);
        Some(Agreement {
            asked,
            achieved,
            ratio: achieved.total as f64 / asked.total as f64,
            as_asked: as_asked.count() as u64,
        })
    }
}
