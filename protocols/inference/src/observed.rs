//! What a server says of itself under `/metrics`.

use std::collections::BTreeMap;

/// Whose names `/metrics` are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// Hugging Face's Text Generation Inference.
    Tgi,
    /// llama.cpp's `llama-server`.
    LlamaCpp,
}

impl Engine {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Engine::Vllm => "vllm",
            Engine::Sglang => "sglang",
            Engine::Tgi => "tgi",
            Engine::LlamaCpp => "llama.cpp",
        }
    }

    const ALL: [(Engine, &'static str); 4] = [
        (Engine::Vllm, "vllm:"),
        (Engine::Sglang, "sglang:"),
        (Engine::Tgi, "tgi_"),
        (Engine::LlamaCpp, "llamacpp:"),
    ];
}

/// What a server said of itself at one instant, in one set of names.
///
/// | here | vLLM | SGLang | TGI | llama.cpp |
/// | --- | --- | --- | --- | --- |
/// | `kv_cache_usage` | `kv_cache_usage_perc`, once `gpu_cache_usage_perc` | `token_usage` | – | – |
/// | `running` | `num_requests_running` | `num_running_reqs` | `batch_current_size` | `requests_processing` |
/// | `waiting` | `num_requests_waiting` | `num_queue_reqs` | `queue_size` | `requests_deferred` |
/// | `preemptions` | `num_preemptions` | `num_retracted_requests`, `num_retracted_reqs` | – | – |
/// | `prefix_queries` | `prefix_cache_queries` | `prompt_tokens` | – | `prompt_tokens` + `prompt_tokens_cached` |
/// | `prefix_hits` | `prefix_cache_hits` | `cached_tokens` | – | `prompt_tokens_cached` |
/// | `input_tokens` | `prompt_tokens` | `prompt_tokens` | `request_input_length_sum` | `prompt_tokens` + `prompt_tokens_cached` |
/// | `output_tokens` | `generation_tokens` | `generation_tokens` | `request_generated_tokens_sum` | `tokens_predicted` |
///
/// Counters are found with and without `_total`. Samples of several engines, or of several workers, are added up; of
/// `kv_cache_usage` the fullest is taken, as it is the one that runs out.
///
/// ```
/// use openloop_inference::{Engine, Observed};
///
/// let seen = Observed::parse("# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\"} 3.0\n");
/// assert_eq!((seen.engine, seen.running, seen.waiting), (Some(Engine::Vllm), Some(3.0), None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Observed {
    /// Whose names were found; `None` where there were none of these four.
    pub engine: Option<Engine>,
    /// The share of the KV cache that is in use, from 0 to 1.
    pub kv_cache_usage: Option<f64>,
    /// Sequences in the batch.
    pub running: Option<f64>,
    /// Requests in the queue.
    pub waiting: Option<f64>,
    /// How often a sequence has lost its place, since the server began.
    pub preemptions: Option<f64>,
    /// Tokens that were looked up in the prefix cache, since the server began.
    pub prefix_queries: Option<f64>,
    /// Of these, found.
    pub prefix_hits: Option<f64>,
    /// Tokens of prompts, since the server began.
    pub input_tokens: Option<f64>,
    /// Tokens that were generated, since the server began.
    pub output_tokens: Option<f64>,
}

impl Observed {
    /// Reads the text format of Prometheus; what is of no interest, or malformed, is left out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let samples: Vec<_> = text.lines().filter_map(sample).collect();
        let has = |prefix: &str| samples.iter().any(|(name, _)| name.starts_with(prefix));
        let found = Engine::ALL.into_iter().find(|(_, prefix)| has(prefix));
        let Some((engine, prefix)) = found else {
            return Observed::default();
        };
        let mut values = Values::default();
        for (name, value) in samples {
            if let Some(name) = name.strip_prefix(prefix) {
                values.add(name.strip_suffix("_total").unwrap_or(name), value);
            }
        }
        Observed {
            engine: Some(engine),
            ..values.of(engine)
        }
    }

    /// The share of the prompts' tokens that the prefix cache knew since `before`; `None` where neither says it, or
    /// nothing was looked up.
    #[must_use]
    pub fn prefix_hit_rate_since(&self, before: &Observed) -> Option<f64> {
        let queries = self.prefix_queries? - before.prefix_queries?;
        let hits = self.prefix_hits? - before.prefix_hits?;
        (queries > 0.0).then(|| hits / queries)
    }

    /// Preemptions since `before`; `None` where neither says it.
    #[must_use]
    pub fn preemptions_since(&self, before: &Observed) -> Option<f64> {
        Some(self.preemptions? - before.preemptions?)
    }
}

/// `name{labels} value timestamp`.
fn sample(line: &str) -> Option<(&str, f64)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let name = &line[..line.find(['{', ' ', '\t'])?];
    // A label may hold a brace: the last one ends them.
    let rest = match line.rfind('}') {
        Some(end) => &line[end + 1..],
        None => &line[name.len()..],
    };
    let value: f64 = rest.split_whitespace().next()?.parse().ok()?;
    value.is_finite().then_some((name, value))
}

/// Samples by name: their sum, and the largest.
#[derive(Default)]
struct Values<'a>(BTreeMap<&'a str, (f64, f64)>);

impl<'a> Values<'a> {
    fn add(&mut self, name: &'a str, value: f64) {
        let (sum, largest) = self.0.entry(name).or_insert((0.0, value));
        *sum += value;
        *largest = largest.max(value);
    }

    fn sum(&self, names: &[&str]) -> Option<f64> {
        let found = names.iter().find_map(|name| self.0.get(name));
        found.map(|(sum, _)| *sum)
    }

    fn largest(&self, names: &[&str]) -> Option<f64> {
        let found = names.iter().find_map(|name| self.0.get(name));
        found.map(|(_, largest)| *largest)
    }

    fn of(&self, engine: Engine) -> Observed {
        let none = Observed::default();
        match engine {
            Engine::Vllm => Observed {
                kv_cache_usage: self.largest(&["kv_cache_usage_perc", "gpu_cache_usage_perc"]),
                running: self.sum(&["num_requests_running"]),
                waiting: self.sum(&["num_requests_waiting"]),
                preemptions: self.sum(&["num_preemptions"]),
                prefix_queries: self.sum(&["prefix_cache_queries", "gpu_prefix_cache_queries"]),
                prefix_hits: self.sum(&["prefix_cache_hits", "gpu_prefix_cache_hits"]),
                input_tokens: self.sum(&["prompt_tokens"]),
                output_tokens: self.sum(&["generation_tokens"]),
                ..none
            },
            Engine::Sglang => Observed {
                kv_cache_usage: self.largest(&["token_usage"]),
                running: self.sum(&["num_running_reqs"]),
                waiting: self.sum(&["num_queue_reqs"]),
                preemptions: self.sum(&["num_retracted_requests", "num_retracted_reqs"]),
                prefix_queries: self.sum(&["prompt_tokens"]),
                prefix_hits: self.sum(&["cached_tokens"]),
                input_tokens: self.sum(&["prompt_tokens"]),
                output_tokens: self.sum(&["generation_tokens"]),
                ..none
            },
            Engine::Tgi => Observed {
                running: self.sum(&["batch_current_size"]),
                waiting: self.sum(&["queue_size"]),
                input_tokens: self.sum(&["request_input_length_sum"]),
                output_tokens: self.sum(&["request_generated_tokens_sum"]),
                ..none
            },
            Engine::LlamaCpp => {
                let cached = self.sum(&["prompt_tokens_cached"]);
                let computed = self.sum(&["prompt_tokens"]);
                let all = computed.map(|computed| computed + cached.unwrap_or(0.0));
                Observed {
                    running: self.sum(&["requests_processing"]),
                    waiting: self.sum(&["requests_deferred"]),
                    prefix_queries: cached.and(all),
                    prefix_hits: cached,
                    input_tokens: all,
                    output_tokens: self.sum(&["tokens_predicted"]),
                    ..none
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_is_known_by_its_names() {
        let vllm = Observed::parse(
            "vllm:kv_cache_usage_perc{engine=\"0\"} 0.25\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.5\n\
             vllm:num_requests_waiting{engine=\"0\"} 2\nvllm:num_requests_waiting{engine=\"1\"} 3\n\
             vllm:num_preemptions_total{engine=\"0\"} 7\nvllm:prefix_cache_hits 10\n",
        );
        assert_eq!((vllm.kv_cache_usage, vllm.waiting), (Some(0.5), Some(5.0)));
        assert_eq!(
            (vllm.preemptions, vllm.prefix_hits),
            (Some(7.0), Some(10.0))
        );
        let sglang = Observed::parse(
            "sglang:token_usage{model_name=\"a b}\"} 0.9\nsglang:num_retracted_requests_total 4\n\
             sglang:prompt_tokens_total 100\nsglang:cached_tokens_total 40\n",
        );
        assert_eq!(
            (sglang.engine, sglang.kv_cache_usage),
            (Some(Engine::Sglang), Some(0.9))
        );
        assert_eq!(
            (sglang.preemptions, sglang.prefix_hits),
            (Some(4.0), Some(40.0))
        );
        let tgi = Observed::parse("tgi_queue_size 3\ntgi_request_generated_tokens_sum 55\n");
        assert_eq!((tgi.waiting, tgi.output_tokens), (Some(3.0), Some(55.0)));
        let llama = Observed::parse(
            "llamacpp:prompt_tokens_total 87\nllamacpp:prompt_tokens_cached_total 103\n\
             llamacpp:requests_deferred 2\nllamacpp:tokens_predicted_total 149\n",
        );
        assert_eq!(
            (llama.input_tokens, llama.output_tokens),
            (Some(190.0), Some(149.0))
        );
        let nothing = Observed {
            prefix_queries: Some(0.0),
            prefix_hits: Some(0.0),
            ..Observed::default()
        };
        assert_eq!(llama.prefix_hit_rate_since(&nothing), Some(103.0 / 190.0));
    }

    #[test]
    fn what_is_malformed_or_of_others_is_left_out() {
        for text in [
            "",
            "# HELP vllm:x y",
            "process_cpu_seconds_total 3",
            "vllm:num_requests_running",
            "vllm:num_requests_running{a=\"b\" NaN",
            "vllm:num_requests_running +Inf",
        ] {
            assert_eq!(Observed::parse(text).running, None, "{text}");
        }
        assert_eq!(Observed::parse("node_load1 3").engine, None);
        let spaced = Observed::parse("  vllm:num_requests_running\t3 1700000000 \n");
        assert_eq!(spaced.running, Some(3.0));
    }
}
