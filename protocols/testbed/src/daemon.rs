//! A server's program in a process of its own, as a user without rights, that ends with whoever started it.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};

/// Longer than any server takes to start or to stop, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a server is looked at that is on its way.
const LOOK: Duration = Duration::from_millis(5);

/// Runs the program, and ends it once its own input ends: that of a process which was killed ends as well, and then
/// nobody else removes the folder.
const UNTIL_INPUT_ENDS: &str = r#""$@" </dev/null >&2 & p=$!; echo $p; read -r word
kill -"$0" $p 2>/dev/null; wait $p; [ "$word" = keep ] || rm -rf "$PWD""#;

/// Whom a server runs as: servers refuse to be root.
#[derive(Debug, Clone, Copy)]
pub(crate) struct User {
    id: u32,
    group: u32,
}

impl User {
    /// `None` for the one who asks; a user without rights where that is root.
    pub(crate) fn unprivileged() -> io::Result<Option<Self>> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        let known = fs::read_to_string("/etc/passwd")?;
        let find = |name: &str| {
            let line = known
                .lines()
                .find(|line| line.split(':').next() == Some(name))?;
            let mut numbers = line.split(':').skip(2).map(str::parse);
            Some(User {
                id: numbers.next()?.ok()?,
                group: numbers.next()?.ok()?,
            })
        };
        let user = find("postgres").or_else(|| find("nobody"));
        user.map(Some).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "a server that refuses to be root needs another user: there is neither postgres nor nobody",
            )
        })
    }
}

/// A command that runs as `user`.
pub(crate) fn command(program: &Path, user: Option<User>) -> Command {
    let mut command = Command::new(program);
    if let Some(user) = user {
        command.gid(user.group).uid(user.id);
    }
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// Runs a command to its end.
///
/// # Errors
/// What it said, if its status is not 0.
pub(crate) fn run(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let program = command.get_program().to_string_lossy().into_owned();
    Err(io::Error::other(format!(
        "{program}: {}: {}",
        output.status,
        said.trim()
    )))
}

/// A folder for a server's files, removed at the end.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str, user: Option<User>) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("openloop-{name}-{}-{number}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        fs::create_dir(&folder.0)?;
        folder.hand_over(&folder.0, 0o700, user)?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file that the server alone can read.
    pub(crate) fn write(&self, name: &str, text: &str, user: Option<User>) -> io::Result<PathBuf> {
        let file = self.0.join(name);
        fs::write(&file, text)?;
        self.hand_over(&file, 0o600, user)?;
        Ok(file)
    }

    fn hand_over(&self, path: &Path, mode: u32, user: Option<User>) -> io::Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        match user {
            Some(user) => chown(path, Some(user.id), Some(user.group)),
            None => Ok(()),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in a temporary folder does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A running program.
#[derive(Debug)]
pub(crate) struct Daemon {
    shell: Child,
    pid: Pid,
    log: PathBuf,
}

impl Daemon {
    /// Starts a program whose output goes to the file `log` in the folder, and which ends at once at the signal of this
    /// name.
    pub(crate) fn start(
        program: &Path,
        arguments: &[String],
        ends_at: &str,
        folder: &Path,
        user: Option<User>,
    ) -> io::Result<Self> {
        let log = folder.join("log");
        let output = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)?;
        let mut shell = command(Path::new("/bin/sh"), user)
            .args(["-c", UNTIL_INPUT_ENDS, ends_at])
            .arg(program)
            .args(arguments)
            .current_dir(folder)
            // Ctrl-C is for whoever started it, and its end is for this one.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(output)
            .spawn()?;
        let mut line = String::new();
        if let Some(out) = shell.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let pid = line.trim().parse().ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("a shell did not start the server"))?;
        Ok(Daemon { shell, pid, log })
    }

    /// The program's process.
    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Waits until the server says that it is ready.
    pub(crate) fn until(&self, is_ready: impl Fn() -> bool) -> io::Result<()> {
        let begun = Instant::now();
        while !is_ready() {
            if self.is_gone() || begun.elapsed() > PATIENCE {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                let lines: Vec<_> = log.lines().rev().take(12).collect();
                let tail: Vec<_> = lines.into_iter().rev().collect();
                return Err(io::Error::other(format!(
                    "the server did not start: {}",
                    tail.join("\n")
                )));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Whether the program has ended by itself.
    fn is_gone(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid()));
        // Behind the name, which stands in brackets, comes the state: Z for one that is dead and not yet buried.
        stat.is_ok_and(|stat| {
            stat.rsplit(')')
                .next()
                .is_some_and(|rest| rest.trim_start().starts_with('Z'))
        })
    }

    /// Sends the program a signal and waits until it has ended.
    pub(crate) fn end(mut self, signal: Signal) -> io::Result<()> {
        kill_process(self.pid, signal)?;
        let begun = Instant::now();
        while !self.is_gone() && begun.elapsed() < PATIENCE && self.is_there() {
            thread::sleep(LOOK);
        }
        self.bury();
        Ok(())
    }

    fn is_there(&self) -> bool {
        Path::new(&format!("/proc/{}", self.pid())).exists()
    }

    fn bury(&mut self) {
        if let Some(mut input) = self.shell.stdin.take() {
            // It may have been killed; and when its input ends, so does the program.
            let _ = input.write_all(b"keep\n");
        }
        let _ = self.shell.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.bury();
    }
}
