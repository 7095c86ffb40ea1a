//! What other tools call the same.

use std::fmt;
use std::str::FromStr;

/// A tool whose names can be put beside ours.
///
/// | ours | vLLM `bench serve` | SGLang `bench_serving` | aiperf | guidellm |
/// | --- | --- | --- | --- | --- |
/// | `ttft` | – | – | – | – |
/// | `ttft_sent` | `ttft`¹ | `ttft` | `time_to_first_token`, and `time_to_first_output_token` for `ttft_visible` from the sending | `time_to_first_token_ms` |
/// | `tpot` | `tpot` | `tpot`² | `inter_token_latency` | `inter_token_latency_ms` |
/// | `itl_chunk` | `itl` | `itl` | `inter_chunk_latency` | – |
/// | `itl` | – | `itl` of `/generate` | – | – |
/// | `e2e` | `e2el_including_client_queue`³ | – | `effective_latency`³ | `request_scheduled_latency` |
/// | `e2e_sent` | `e2el` | `e2e_latency`² | `request_latency` | `request_latency` |
/// | `ntpot` | – | – | – | `time_per_output_token_ms` |
///
/// ¹ vLLM takes the first event with `choices`, a role included: on a server that sends the role before its prefill is
/// done, that is our `first_event` from the sending. ² To the last line of the stream, usage and `[DONE]` included.
/// ³ From the instant at which the request was issued, not from the one at which it should have been.
///
/// The names are for putting reports side by side. The formulas stay ours: see [`Course`](crate::Course).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricNames {
    /// `vllm bench serve`.
    Vllm,
    /// SGLang's `bench_serving`.
    Sglang,
    /// NVIDIA's aiperf.
    Aiperf,
    /// guidellm.
    Guidellm,
}

impl MetricNames {
    /// Ours and theirs, of the metrics that the tool has.
    #[must_use]
    pub fn pairs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            MetricNames::Vllm => &[
                ("ttft_sent", "ttft"),
                ("tpot", "tpot"),
                ("itl_chunk", "itl"),
                ("e2e_sent", "e2el"),
                ("e2e", "e2el_including_client_queue"),
            ],
            MetricNames::Sglang => &[
                ("ttft_sent", "ttft"),
                ("tpot", "tpot"),
                ("itl_chunk", "itl"),
                ("e2e_sent", "e2e_latency"),
            ],
            MetricNames::Aiperf => &[
                ("ttft_sent", "time_to_first_token"),
                ("tpot", "inter_token_latency"),
                ("itl_chunk", "inter_chunk_latency"),
                ("e2e_sent", "request_latency"),
                ("e2e", "effective_latency"),
            ],
            MetricNames::Guidellm => &[
                ("ttft_sent", "time_to_first_token_ms"),
                ("tpot", "inter_token_latency_ms"),
                ("ntpot", "time_per_output_token_ms"),
                ("e2e_sent", "request_latency"),
                ("e2e", "request_scheduled_latency"),
            ],
        }
    }
}

impl fmt::Display for MetricNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MetricNames::Vllm => "vllm",
            MetricNames::Sglang => "sglang",
            MetricNames::Aiperf => "aiperf",
            MetricNames::Guidellm => "guidellm",
        })
    }
}

/// No such tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no tool whose names are known: write vllm, sglang, aiperf or guidellm")]
pub struct NoSuchTool(String);

impl FromStr for MetricNames {
    type Err = NoSuchTool;

    fn from_str(text: &str) -> Result<Self, NoSuchTool> {
        match text {
            "vllm" => Ok(MetricNames::Vllm),
            "sglang" => Ok(MetricNames::Sglang),
            "aiperf" => Ok(MetricNames::Aiperf),
            "guidellm" => Ok(MetricNames::Guidellm),
            other => Err(NoSuchTool(other.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FORMULAS;

    #[test]
    fn every_name_of_another_tool_stands_for_a_metric_of_ours() {
        for tool in ["vllm", "sglang", "aiperf", "guidellm"] {
            let names: MetricNames = tool.parse().unwrap();
            assert_eq!(names.to_string(), tool);
            for (ours, theirs) in names.pairs() {
                assert!(FORMULAS.iter().any(|(name, _)| name == ours), "{ours}");
                let same = names.pairs().iter().filter(|(_, other)| other == theirs);
                assert_eq!(same.count(), 1, "{theirs}");
            }
        }
        assert!("llmperf".parse::<MetricNames>().is_err());
    }
}
