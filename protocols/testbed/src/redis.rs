//! Real Redis servers, each in a process and a temporary folder of its own.

use std::fmt;
use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Between choosing a free port and listening on it, another process may take it.
const ATTEMPTS: u32 = 5;

/// A Redis server on 127.0.0.1 that nobody else uses: a free port, nothing on disk but its folder, which goes with it.
///
/// It runs until the value is dropped, and is stopped by its process id.
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
pub struct Redis {
    port: u16,
    folder: Folder,
    arguments: Vec<String>,
    process: Option<Child>,
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
        let mut failure = io::Error::other("no attempt was made");
        for _ in 0..ATTEMPTS {
            let mut redis = Redis {
                port: free_port()?,
                folder: Folder::new()?,
                arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
                process: None,
            };
            match redis.restart() {
                Ok(()) => return Ok(redis),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => failure = error,
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

    /// Its process id; `None` while it is down.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// Sends one command by `redis-cli`, over a connection of its own, and returns what it prints.
    ///
    /// # Errors
    /// Where `redis-cli` is missing or cannot reach the server, and where the server answers with an error.
    pub fn cli(&self, words: &[&str]) -> io::Result<String> {
        let port = self.port.to_string();
        let mut command = Command::new("redis-cli");
        command.args(["-e", "-p", &port]).args(words);
        output_of(&mut command)
    }

    /// Ends the process at once, as `kill -9` does: no connection is closed in an orderly way.
    ///
    /// # Errors
    /// Where it cannot be ended.
    pub fn kill(&mut self) -> io::Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Starts it again on the same port, ending what still runs. It comes back empty.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn restart(&mut self) -> io::Result<()> {
        self.kill()?;
        let port = self.port.to_string();
        let mut process = Command::new("redis-server")
            .args(["--port", &port, "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
            // Tests ask it to sleep and to lie.
            .args(["--enable-debug-command", "local"])
            .arg("--dir")
            .arg(&self.folder.0)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| missing("redis-server", &error))?;
        let output = process.stdout.take();
        self.process = Some(process);
        let mut said = Vec::new();
        for line in output
            .into_iter()
            .flat_map(|out| BufReader::new(out).lines())
        {
            let line = line?;
            if line.contains("Ready to accept connections") {
                return Ok(());
            }
            said.push(line);
        }
        self.kill()?;
        let said = said.join("\n");
        let kind = match said.contains("Address already in use") {
            true => io::ErrorKind::AddrInUse,
            false => io::ErrorKind::Other,
        };
        let why = format!("redis-server ended before it accepted connections:\n{said}");
        Err(io::Error::new(kind, why))
    }

    /// Stops the process where it is, as a machine that hangs: connections stay, and are accepted by the kernel, and
    /// nothing is answered.
    ///
    /// # Errors
    /// Where there is no process to be stopped.
    #[cfg(unix)]
    pub fn freeze(&self) -> io::Result<()> {
        self.signal(rustix::process::Signal::STOP)
    }

    /// Lets it go on after [`freeze`](Self::freeze).
    ///
    /// # Errors
    /// Where there is no process to go on.
    #[cfg(unix)]
    pub fn thaw(&self) -> io::Result<()> {
        self.signal(rustix::process::Signal::CONT)
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) -> io::Result<()> {
        let process = self.process.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let id = rustix::process::Pid::from_child(process);
        Ok(rustix::process::kill_process(id, signal)?)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.kill();
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis")
            .field("port", &self.port)
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

/// A Redis cluster of primaries without replicas, the slots spread evenly over them.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<Redis>,
}

impl RedisCluster {
    /// Starts `nodes` servers (at least 3) and makes a cluster of them; returns once all of them agree that it is one.
    ///
    /// # Errors
    /// As [`Redis::start`].
    pub fn start(nodes: usize) -> io::Result<Self> {
        let start = |_| {
            let bus = free_port()?.to_string();
            Redis::start_with(&["--cluster-enabled", "yes", "--cluster-port", &bus])
        };
        let nodes = (0..nodes).map(start).collect::<io::Result<Vec<_>>>()?;
        let addresses = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port));
        let mut create = Command::new("redis-cli");
        create.args(["--cluster", "create"]).args(addresses);
        create.args(["--cluster-replicas", "0", "--cluster-yes"]);
        output_of(&mut create)?;
        let cluster = RedisCluster { nodes };
        cluster.until_agreed()?;
        Ok(cluster)
    }

    /// Waits until every server says that the cluster serves: after the start, and after one has come back.
    ///
    /// # Errors
    /// Where one of them is down.
    pub fn until_agreed(&self) -> io::Result<()> {
        for node in &self.nodes {
            while !node.cli(&["cluster", "info"])?.contains("cluster_state:ok") {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Its servers, in the order of their slots.
    #[must_use]
    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    /// Server number `number`, to be killed and restarted.
    ///
    /// # Panics
    /// Where there is none of that number.
    pub fn node_mut(&mut self, number: usize) -> &mut Redis {
        &mut self.nodes[number]
    }

    /// Where clients find it: the URL of its first server.
    #[must_use]
    pub fn url(&self) -> String {
        self.nodes.first().map(Redis::url).unwrap_or_default()
    }

    /// The id by which server number `node` is known inside the cluster.
    ///
    /// # Errors
    /// Where it cannot be asked.
    pub fn id_of(&self, node: usize) -> io::Result<String> {
        let node = self.nodes.get(node).ok_or(io::ErrorKind::NotFound)?;
        node.cli(&["cluster", "myid"])
    }

    /// Gives a slot, which must be empty, to server number `to`. Clients that do not know of it are told `MOVED`.
    ///
    /// # Errors
    /// Where a server refuses it.
    pub fn give_slot(&self, slot: u16, to: usize) -> io::Result<()> {
        let (slot, id) = (slot.to_string(), self.id_of(to)?);
        // The new owner first, so that at no time nobody owns it.
        let owner = self.nodes.get(to).into_iter();
        let others = self.nodes.iter().enumerate().filter(|(n, _)| *n != to);
        for node in owner.chain(others.map(|(_, node)| node)) {
            node.cli(&["cluster", "setslot", &slot, "node", &id])?;
        }
        Ok(())
    }

    /// Begins to move a slot from server number `from` to server number `to`, and goes no further: for keys that `from`
    /// does not have, it answers `ASK`.
    ///
    /// # Errors
    /// Where a server refuses it.
    pub fn begin_moving_slot(&self, slot: u16, from: usize, to: usize) -> io::Result<()> {
        let (slot, source, target) = (slot.to_string(), self.id_of(from)?, self.id_of(to)?);
        let node = |number: usize| self.nodes.get(number).ok_or(io::ErrorKind::NotFound);
        node(to)?.cli(&["cluster", "setslot", &slot, "importing", &source])?;
        node(from)?.cli(&["cluster", "setslot", &slot, "migrating", &target])?;
        Ok(())
    }
}

/// What a program prints; its own words where it fails.
fn output_of(command: &mut Command) -> io::Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| missing("redis-cli", &error))?;
    let text = String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned();
    if output.status.success() {
        return Ok(text);
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{text}{}", words.trim_end())))
}

fn missing(program: &str, error: &io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return io::Error::new(error.kind(), format!("{program}: {error}"));
    }
    let what = format!(
        "{program} is missing: install it by `apt-get install redis-server`, or run `cargo testbed`"
    );
    io::Error::new(error.kind(), what)
}

fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// A temporary folder that is removed with the value.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("openloop-redis-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing in it is worth a failure.
        let _ = std::fs::remove_dir_all(&self.0);
    }
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
        let folder = redis.folder.0.clone();
        drop(redis);
        assert!(!folder.exists());
    }

    #[test]
    fn what_the_server_says_of_bad_arguments_is_told() {
        let why = Redis::start_with(&["--maxmemory", "much"])
            .unwrap_err()
            .to_string();
        assert!(why.contains("redis-server ended"), "{why}");
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

    #[test]
    fn a_cluster_tells_who_has_a_slot_and_who_will() {
        let cluster = RedisCluster::start(3).unwrap();
        // CRC16 of "foo" is slot 12182, which the last of three has.
        let [first, _, last] = cluster.nodes() else {
            panic!()
        };
        assert_eq!(last.cli(&["set", "foo", "1"]).unwrap(), "OK");
        let moved = first.cli(&["get", "foo"]).unwrap_err().to_string();
        assert_eq!(moved, format!("MOVED 12182 127.0.0.1:{}", last.port()));
        // Slot 0 is of the first, until it is moving.
        cluster.begin_moving_slot(0, 0, 2).unwrap();
        let key = "06S"; // CRC16 is 0
        let told = first.cli(&["get", key]).unwrap_err().to_string();
        assert_eq!(told, format!("ASK 0 127.0.0.1:{}", last.port()));
        cluster.give_slot(0, 2).unwrap();
        assert_eq!(last.cli(&["get", key]).unwrap(), "");
    }
}
