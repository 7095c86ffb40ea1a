//! `/metrics`, in the names of vLLM.

use openloop_capacity::batching::EngineReport;
use std::fmt::Write;

/// What a server counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    prompt_tokens: u64,
    cached_tokens: u64,
    generated_tokens: u64,
    finished: u64,
}

impl Tally {
    pub(super) fn admitted(&mut self, prompt_tokens: u32, cached_tokens: u32) {
        self.prompt_tokens += u64::from(prompt_tokens);
        self.cached_tokens += u64::from(cached_tokens);
    }

    pub(super) fn token(&mut self) {
        self.generated_tokens += 1;
    }

    pub(super) fn finished(&mut self) {
        self.finished += 1;
    }

    /// In the text format of Prometheus. Without an engine, streams are what runs.
    pub(super) fn text(&self, engines: &[EngineReport], streams: usize) -> String {
        let used: f64 = engines
            .iter()
            .map(|engine| f64::from(engine.used_blocks))
            .sum();
        let blocks: f64 = engines.iter().map(|engine| f64::from(engine.blocks)).sum();
        let usage = if blocks > 0.0 { used / blocks } else { 0.0 };
        let running = match engines {
            [] => streams,
            engines => engines.iter().map(|engine| engine.running).sum(),
        };
        let waiting: usize = engines.iter().map(|engine| engine.waiting).sum();
        let preemptions: u64 = engines.iter().map(|engine| engine.preemptions).sum();
        let mut text = String::new();
        for (name, kind, value) in [
            ("kv_cache_usage_perc", "gauge", usage),
            ("num_requests_running", "gauge", running as f64),
            ("num_requests_waiting", "gauge", waiting as f64),
            ("num_preemptions_total", "counter", preemptions as f64),
            (
                "prefix_cache_queries_total",
                "counter",
                self.prompt_tokens as f64,
            ),
            (
                "prefix_cache_hits_total",
                "counter",
                self.cached_tokens as f64,
            ),
            ("prompt_tokens_total", "counter", self.prompt_tokens as f64),
            (
                "generation_tokens_total",
                "counter",
                self.generated_tokens as f64,
            ),
            ("request_success_total", "counter", self.finished as f64),
        ] {
            // Writing to a text cannot fail.
            let _ = writeln!(
                text,
                "# TYPE vllm:{name} {kind}\nvllm:{name}{{engine=\"0\",model_name=\"testbed\"}} {value}"
            );
        }
        text
    }
}
