//! Real Redis servers, each in a process and a temporary folder of its own.

mod cluster;

pub use cluster::RedisCluster;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::certificate::{self, Certificate};
use crate::daemon::{self, Daemon, Folder};

/// Between choosing a free port and listening on it, another process may take it.
const ATTEMPTS: u32 = 5;

const SERVER: &str = "redis-server";
const PACKAGE: &str = "redis-server";

/// A Redis server on 127.0.0.1 that nobody else uses: a free port, nothing on disk but its folder, which goes with it.
///
/// It ends when it is dropped, or with the process that started it.
///
/// # Examples
///
/// ```no_run
/// use openloop_testbed::Redis;
///
/// let mut redis = Redis::start()?;
/// assert_eq!(redis.cli(&["set", "greeting", "hello"])?, "OK");
/// redis.kill()?; // as kill -9 does
/// redis.restart()?; // on the same port, with nothing in it
/// assert_eq!(redis.cli(&["get", "greeting"])?, "");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Redis {
    // Ends before its folder is removed.
    daemon: Option<Daemon>,
    port: u16,
    arguments: Vec<String>,
    starts: usize,
    tls: Option<Secure>,
    folder: Folder,
}

/// Where it speaks TLS.
#[derive(Debug)]
struct Secure {
    port: u16,
    ca_pem: String,
}

impl Redis {
    /// Starts a server, and returns once it accepts connections.
    ///
    /// # Errors
    /// Where `redis-server` is missing, with what to install, and where it ends before it listens, with its last words.
    pub fn start() -> io::Result<Self> {
        Redis::start_with(&[])
    }

    /// The same with more arguments, as `redis-server` takes them: `["--maxmemory", "1mb"]`.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with(arguments: &[&str]) -> io::Result<Self> {
        Redis::start_by(arguments, None)
    }

    /// The same with a second port, at which it speaks TLS with this certificate and asks for none.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_tls(certificate: Certificate, arguments: &[&str]) -> io::Result<Self> {
        Redis::start_by(arguments, Some(certificate))
    }

    fn start_by(arguments: &[&str], certificate: Option<Certificate>) -> io::Result<Self> {
        let mut failure = io::Error::other("no attempt was made");
        for _ in 0..ATTEMPTS {
            let mut redis = Redis {
                daemon: None,
                port: free_port()?,
                arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
                starts: 0,
                tls: None,
                folder: Folder::new("redis", None)?,
            };
            if let Some(certificate) = certificate {
                redis.secure(certificate)?;
            }
            match redis.restart() {
                Ok(()) => return Ok(redis),
                Err(error) if error.to_string().contains("already in use") => failure = error,
                Err(error) => return Err(error),
            }
        }
        Err(failure)
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where clients find it: `redis://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Where clients find it by TLS, `rediss://localhost:PORT`; `None` where it speaks none.
    #[must_use]
    pub fn tls_url(&self) -> Option<String> {
        let tls = self.tls.as_ref()?;
        Some(format!("rediss://localhost:{}", tls.port))
    }

    /// The authority that signed its certificate, as PEM; `None` without TLS.
    #[must_use]
    pub fn ca_pem(&self) -> Option<&str> {
        self.tls.as_ref().map(|tls| tls.ca_pem.as_str())
    }

    /// Its process id; `None` while it is down.
    #[must_use]
    pub fn id(&self) -> Option<i32> {
        self.daemon.as_ref().map(Daemon::pid)
    }

    /// Sends one command by `redis-cli`, over a connection of its own, and returns what it prints.
    ///
    /// # Errors
    /// Where `redis-cli` is missing or cannot reach the server, and where the server answers with an error.
    pub fn cli(&self, words: &[&str]) -> io::Result<String> {
        let port = self.port.to_string();
        let mut command = Command::new("redis-cli");
        command.args(["-e", "-p", &port]).args(words);
        by_cli(&mut command)
    }

    /// Ends the process at once, as `kill -9` does: no connection is closed in an orderly way.
    ///
    /// # Errors
    /// Where it cannot be ended.
    pub fn kill(&mut self) -> io::Result<()> {
        self.daemon
            .take()
            .map_or(Ok(()), |daemon| daemon.end(Signal::KILL))
    }

    /// Starts it again on the same port, ending what still runs. It comes back empty.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn restart(&mut self) -> io::Result<()> {
        self.kill()?;
        let program = crate::web::find(SERVER, PACKAGE).map_err(|error| missing(SERVER, &error))?;
        let port = self.port.to_string();
        let own = ["--port", &port, "--bind", "127.0.0.1", "--save", ""];
        // Tests ask it to sleep and to lie.
        let lies = ["--appendonly", "no", "--enable-debug-command", "local"];
        let own = own.iter().chain(&lies).map(|&word| word.to_owned());
        let arguments: Vec<_> = own.chain(self.arguments.iter().cloned()).collect();
        let folder = self.folder.path();
        let daemon = Daemon::start(&program, &arguments, "KILL", folder, None)?;
        self.starts += 1;
        // The log of all starts.
        let is_ready = || {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            log.matches("Ready to accept connections").count() >= self.starts
        };
        daemon.until(is_ready)?;
        self.daemon = Some(daemon);
        Ok(())
    }

    /// Stops the process where it is, as a machine that hangs: connections stay, and are accepted by the kernel, and
    /// nothing is answered.
    ///
    /// # Errors
    /// Where there is no process to be stopped.
    pub fn freeze(&self) -> io::Result<()> {
        self.signal(Signal::STOP)
    }

    /// Lets it go on after [`freeze`](Self::freeze).
    ///
    /// # Errors
    /// Where there is no process to go on.
    pub fn thaw(&self) -> io::Result<()> {
        self.signal(Signal::CONT)
    }

    /// Writes down a certificate, and what the server is to do with it.
    fn secure(&mut self, certificate: Certificate) -> io::Result<()> {
        let files = certificate::pem_files(certificate).map_err(io::Error::other)?;
        let port = free_port()?;
        let (own, key) = ("server.crt", "server.key");
        // An authority must be named even where nobody is asked for a certificate.
        for (name, text) in [
            (own, &files.certificate),
            (key, &files.key),
            ("ca.crt", &files.authority),
        ] {
            fs::write(self.folder.path().join(name), text)?;
        }
        let path = |name| self.folder.path().join(name).display().to_string();
        let settings = [
            ("--tls-port", port.to_string()),
            ("--tls-cert-file", path(own)),
            ("--tls-key-file", path(key)),
            ("--tls-ca-cert-file", path("ca.crt")),
            ("--tls-auth-clients", "no".to_owned()),
        ];
        for (name, value) in settings {
            self.arguments.extend([name.to_owned(), value]);
        }
        let ca_pem = files.authority;
        self.tls = Some(Secure { port, ca_pem });
        Ok(())
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        let id = self.id().and_then(Pid::from_raw);
        Ok(kill_process(id.ok_or(io::ErrorKind::NotFound)?, signal)?)
    }
}

/// What redis-cli prints.
fn by_cli(command: &mut Command) -> io::Result<String> {
    let printed = daemon::run(command).map_err(|error| missing("redis-cli", &error))?;
    Ok(printed.trim_end().to_owned())
}

/// What to do where a program is not there; any other error as it is.
fn missing(program: &str, error: &io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return io::Error::new(error.kind(), error.to_string());
    }
    let what = format!(
        "{program} is missing: install it by `apt-get install {PACKAGE}`, or run `cargo testbed`"
    );
    io::Error::new(error.kind(), what)
}

fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_answers_ends_and_comes_back_empty_on_the_same_port() {
        let mut redis = Redis::start().unwrap();
        assert_eq!(redis.cli(&["set", "a", "1"]).unwrap(), "OK");
        assert_eq!(redis.cli(&["get", "a"]).unwrap(), "1");
        let (port, first) = (redis.port(), redis.id());
        redis.kill().unwrap();
        assert!(redis.cli(&["ping"]).is_err());
        redis.restart().unwrap();
        assert_eq!(
            (redis.port(), redis.cli(&["get", "a"]).unwrap()),
            (port, String::new())
        );
        assert_ne!(redis.id(), first);
        let folder = redis.folder.path().to_owned();
        drop(redis);
        assert!(!folder.exists());
    }

    #[test]
    fn what_the_server_says_of_bad_arguments_is_told() {
        let why = Redis::start_with(&["--maxmemory", "much"])
            .unwrap_err()
            .to_string();
        assert!(
            why.contains("did not start") && why.contains("maxmemory"),
            "{why}"
        );
        let error = Redis::start()
            .unwrap()
            .cli(&["no-such-command"])
            .unwrap_err();
        assert!(error.to_string().contains("unknown command"), "{error}");
    }

    #[test]
    fn a_missing_program_is_named_with_what_to_install() {
        let error = missing("redis-server", &io::ErrorKind::NotFound.into()).to_string();
        assert!(error.contains("apt-get install redis-server"), "{error}");
    }
}
