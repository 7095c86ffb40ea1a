//! Real servers of a small language model.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use crate::daemon::{Daemon, Folder};
use crate::installed::{DASLLAMA, Installed, LLAMA_SERVER, VLLM_CLIENT};
use crate::postgres::free_port;

/// One answer may take so long while it starts.
const PATIENCE: Duration = Duration::from_secs(5);

/// A private server of SmolLM2 (135 million parameters) on a free port of 127.0.0.1, with OpenAI's interface. It computes
/// on the CPU: some 90 tokens a second.
///
/// It ends when it is dropped, or with the process that started it.
///
/// | | [`dasllama`](Self::dasllama) | [`llama_server`](Self::llama_server) |
/// | --- | --- | --- |
/// | installed by | `cargo testbed` | `cargo testbed --full`, which compiles it |
/// | role | before its prefill ends | with the first token |
/// | connection behind a stream | stays | is closed, though the head promises that it stays |
/// | prompts of token ids, `ignore_eos` | refused, without effect | yes, yes |
/// | what it says of itself | its [`log`](Self::log) | `/metrics`, `/slots` |
/// | `"max_tokens": "abc"` | ends the server: every connection, and the port | is refused |
#[derive(Debug)]
pub struct LanguageModel {
    // Ends before its folder is removed.
    _daemon: Daemon,
    port: u16,
    model: &'static str,
    folder: Folder,
}

impl LanguageModel {
    /// dasllama, which generates for at most `streams` requests at a time.
    ///
    /// # Errors
    ///
    /// Where it is not installed (with what to do), or what it said when it did not start.
    pub fn dasllama(streams: u32) -> io::Result<Self> {
        let model = "SmolLM2-135M-Instruct.Q8_0.gguf";
        LanguageModel::start(DASLLAMA, model, |model, port| {
            format!("-m {model} -p {port} --host 127.0.0.1 -s {streams} -t 2 --gpu off --ctx 2048")
        })
    }

    /// llama.cpp's server, which generates for at most `slots` requests at a time.
    ///
    /// # Errors
    ///
    /// As for [`dasllama`](Self::dasllama).
    pub fn llama_server(slots: u32) -> io::Result<Self> {
        let model = "SmolLM2-135M-Instruct.Q4_1.gguf";
        LanguageModel::start(LLAMA_SERVER, model, |path, port| {
            let context = 2048 * slots;
            format!(
                "-m {path} --alias {model} --port {port} --host 127.0.0.1 -np {slots} -c {context} -t 2 --metrics \
                 --slots --offline"
            )
        })
    }

    fn start(
        server: Installed,
        model: &'static str,
        arguments: impl Fn(&str, u16) -> String,
    ) -> io::Result<Self> {
        let program = server.find()?;
        let file = server.folder()?.join(model);
        let folder = Folder::new(server.name, None)?;
        let port = free_port()?;
        let words = arguments("MODEL", port);
        let words = words.split_whitespace();
        // The path may have spaces.
        let words: Vec<_> = words
            .map(|word| word.replace("MODEL", &file.display().to_string()))
            .collect();
        let daemon = Daemon::start(&program, &words, "KILL", folder.path(), None)?;
        daemon.until(|| is_ready(port))?;
        Ok(LanguageModel {
            _daemon: daemon,
            port,
            model,
            folder,
        })
    }

    /// Where clients find it: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it calls its model.
    #[must_use]
    pub fn model(&self) -> &str {
        self.model
    }

    /// Whether it accepts connections.
    #[must_use]
    pub fn listens(&self) -> bool {
        TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))).is_ok()
    }

    /// What it has written so far.
    ///
    /// # Errors
    ///
    /// Where its log cannot be read.
    pub fn log(&self) -> io::Result<String> {
        fs::read_to_string(self.folder.path().join("log"))
    }
}

/// It may listen before its model is loaded, and then answers 503.
fn is_ready(port: u16) -> bool {
    let ask = || -> io::Result<String> {
        let mut socket = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.write_all(b"GET /v1/models HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")?;
        let mut head = [0; 12];
        socket.read_exact(&mut head)?;
        Ok(String::from_utf8_lossy(&head).into_owned())
    };
    ask().is_ok_and(|head| head == "HTTP/1.1 200")
}

/// The folder with the client of `vllm bench serve` and the Python packages that it needs, for comparisons.
///
/// # Errors
///
/// Where it is not installed, with what to do.
pub fn vllm_client() -> io::Result<PathBuf> {
    let mut folder = VLLM_CLIENT.find()?;
    folder.pop();
    Ok(folder)
}
