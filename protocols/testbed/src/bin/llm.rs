//! The language-model server in a process of its own.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use openloop_testbed::batching::{ClusterConfig, EngineConfig, Layout, Prefill, Transfer};
use openloop_testbed::{LlmServer, LlmServerBuilder, Script, parse_duration};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "\
usage: testbed-llm [OPTIONS]

  --script TTFT:GAP     the same stream for every request, such as 50ms:10ms, instead of the simulated engines
  --engines N           engines that do both                                                    (1)
  --disaggregated P:D   P engines that prefill and D that decode
  --blocks N            blocks of KV cache of each engine, of 16 tokens                         (8192)
  --whole-prefill       whole prompts in steps of their own, instead of pieces
  --stall-at T          nothing happens from T after the first request ...
  --stall-for T         ... for so long; the pair can be given several times
  --port N              port of 127.0.0.1 (a free one)
  --for T               ends by itself after T; otherwise by SIGTERM or Ctrl-C

When it listens, it prints its URL as one line. It has /v1/chat/completions, /v1/completions, /v1/models, /health and
/metrics (in vLLM's names). A word is a token, and so is a token id.";

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            let _ = writeln!(io::stdout(), "{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "testbed-llm: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "testbed-llm: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Result<(), Box<dyn Error>> {
    let server = options.server.start()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut out = io::stdout();
        writeln!(out, "{}", server.url())?;
        out.flush()?;
        let end = async {
            match options.run_for {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = end => {}
        }
        io::Result::Ok(())
    })?;
    let tokens: usize = server.log().iter().map(|stream| stream.tokens.len()).sum();
    writeln!(
        io::stderr(),
        "wrote {tokens} tokens in {} answers",
        server.log().len()
    )?;
    Ok(())
}

struct Options {
    server: LlmServerBuilder,
    run_for: Option<Duration>,
}

impl Options {
    /// `None` stands for a wish for help.
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Option<Self>, Box<dyn Error>> {
        let (mut script, mut layout) = (None, Layout::Mixed { engines: 1 });
        let mut engine = EngineConfig::default();
        let (mut stalls, mut stall_at, mut port, mut run_for) = (Vec::new(), None, 0, None);
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{flag} needs a value"));
            match flag.as_str() {
                "--help" | "-h" => return Ok(None),
                "--script" => {
                    let value = value()?;
                    let (ttft, gap) = pair(&value)?;
                    script = Some(Script {
                        ttft: parse_duration(ttft)?,
                        gap: parse_duration(gap)?,
                    });
                }
                "--engines" => {
                    layout = Layout::Mixed {
                        engines: value()?.parse()?,
                    };
                }
                "--disaggregated" => {
                    let value = value()?;
                    let (prefill, decode) = pair(&value)?;
                    layout = Layout::Disaggregated {
                        prefill: prefill.parse()?,
                        decode: decode.parse()?,
                        transfer: Transfer {
                            latency: 100e-6,
                            per_block: 5e-6,
                        },
                    };
                }
                "--blocks" => engine.blocks = value()?.parse()?,
                "--whole-prefill" => engine.prefill = Prefill::Whole,
                "--stall-at" => stall_at = Some(parse_duration(&value()?)?),
                "--stall-for" => {
                    let at = stall_at
                        .take()
                        .ok_or("--stall-for needs --stall-at before it")?;
                    stalls.push((at, parse_duration(&value()?)?));
                }
                "--port" => port = value()?.parse()?,
                "--for" => run_for = Some(parse_duration(&value()?)?),
                other => return Err(format!("{other} is not an option").into()),
            }
        }
        if stall_at.is_some() {
            return Err("--stall-at needs --stall-for behind it".into());
        }
        let mut server = match script {
            Some(script) => LlmServer::scripted(script),
            None => LlmServer::simulated(ClusterConfig {
                layout,
                ..ClusterConfig::single(engine)
            }),
        };
        for (at, length) in stalls {
            server = server.stall(at, length);
        }
        Ok(Some(Self {
            server: server.port(port),
            run_for,
        }))
    }
}

fn pair(text: &str) -> Result<(&str, &str), String> {
    text.split_once(':')
        .ok_or_else(|| format!("{text:?} is no pair: write two values with a colon between"))
}
