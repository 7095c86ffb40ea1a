//! A real PostgreSQL server of one's own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::Certificate;
use crate::certificate;
use crate::daemon::{Daemon, Folder, User, command, run};

/// A private PostgreSQL server on a free port of 127.0.0.1, its files in a temporary folder.
///
/// It is the real one, installed from the system's packages, with the durability switched off that no test needs.
/// It runs as a user without rights, and ends when it is dropped, or with the process that started it, however that
/// ends.
///
/// # Examples
///
/// ```
/// use openloop_testbed::Postgres;
///
/// let server = Postgres::start()?;
/// assert_eq!(server.sql("SELECT 6 * 7")?, "42");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Postgres {
    // Ends before its folder is removed.
    server: Option<Daemon>,
    settings: PostgresBuilder,
    programs: PathBuf,
    user: Option<User>,
    port: u16,
    ca_pem: Option<String>,
    folder: Folder,
}

/// Settings of a [`Postgres`].
#[derive(Debug, Default, Clone)]
#[must_use = "a builder does nothing until the server is started"]
pub struct PostgresBuilder {
    settings: Vec<(String, String)>,
    password: Option<String>,
    certificate: Option<Certificate>,
}

impl PostgresBuilder {
    /// A setting of the server, such as `max_connections`.
    pub fn setting(mut self, name: &str, value: impl ToString) -> Self {
        self.settings.push((name.to_owned(), value.to_string()));
        self
    }

    /// Asks for this password (SCRAM-SHA-256); without it everybody is trusted.
    pub fn password(mut self, password: &str) -> Self {
        self.password = Some(password.to_owned());
        self
    }

    /// Offers TLS with this certificate, beside plain TCP.
    pub fn tls(mut self, certificate: Certificate) -> Self {
        self.certificate = Some(certificate);
        self
    }

    /// Makes a database cluster and starts the server.
    ///
    /// # Errors
    ///
    /// Where PostgreSQL is not installed (with what to install), or what the server said when it did not start.
    pub fn start(self) -> io::Result<Postgres> {
        let programs = programs()?;
        let user = User::unprivileged()?;
        let folder = Folder::new("postgres", user)?;
        let mut initdb = command(&programs.join("initdb"), user);
        initdb
            .current_dir(folder.path())
            .arg("-D")
            .arg(folder.path().join("data"))
            .args(["-U", "postgres", "-E", "UTF8", "--locale=C"])
            .args(["--no-sync", "--no-instructions"]);
        match &self.password {
            Some(password) => {
                let file = folder.write("password", password, user)?;
                initdb.arg("--auth=scram-sha-256").arg("--pwfile").arg(file)
            }
            None => initdb.arg("--auth=trust"),
        };
        run(&mut initdb)?;
        let ca_pem = match self.certificate {
            Some(certificate) => Some(write_certificate(&folder, certificate, user)?),
            None => None,
        };
        let mut server = Postgres {
            server: None,
            settings: self,
            programs,
            user,
            port: free_port()?,
            ca_pem,
            folder,
        };
        server.start_again()?;
        Ok(server)
    }
}

impl Postgres {
    /// Starts a server with the defaults.
    ///
    /// # Errors
    ///
    /// As for [`PostgresBuilder::start`].
    pub fn start() -> io::Result<Self> {
        Self::builder().start()
    }

    /// A server to be set up.
    pub fn builder() -> PostgresBuilder {
        PostgresBuilder::default()
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// The connection string of its superuser, with the password if it asks for one.
    #[must_use]
    pub fn dsn(&self) -> String {
        let password = self.settings.password.as_deref();
        let password = password.map_or(String::new(), |password| format!(":{password}"));
        format!("postgres://postgres{password}@{}/postgres", self.addr())
    }

    /// The authority that signed its certificate, as PEM; `None` without TLS.
    #[must_use]
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// A program that came with the server, such as `pgbench`.
    #[must_use]
    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// Runs SQL by `psql` and gives what it prints, without headings.
    ///
    /// # Errors
    ///
    /// What `psql` says.
    pub fn sql(&self, sql: &str) -> io::Result<String> {
        let mut psql = Command::new(self.program("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        psql.arg(self.dsn());
        Ok(run(&mut psql)?.trim().to_owned())
    }

    /// Stops it as an administrator would ("fast": whoever is connected is told, and cut off).
    ///
    /// # Errors
    ///
    /// Where it cannot be sent the signal.
    pub fn stop(&mut self) -> io::Result<()> {
        self.end(Signal::INT)
    }

    /// Kills it (`kill -9`), as the kernel does when memory runs out.
    ///
    /// # Errors
    ///
    /// Where it cannot be sent the signal.
    pub fn crash(&mut self) -> io::Result<()> {
        self.end(Signal::KILL)
    }

    fn end(&mut self, signal: Signal) -> io::Result<()> {
        self.server
            .take()
            .map_or(Ok(()), |server| server.end(signal))
    }

    /// Starts it again where it was, with its data and on its port.
    ///
    /// # Errors
    ///
    /// What the server said when it did not start.
    pub fn start_again(&mut self) -> io::Result<()> {
        let data = self.folder.path().join("data");
        let pid_file = data.join("postmaster.pid");
        let mut last = None;
        // The processes of one that was killed hold its memory until they notice.
        for _ in 0..20 {
            let server = Daemon::start(
                &self.program("postgres"),
                &self.arguments(&data),
                "QUIT",
                self.folder.path(),
                self.user,
            )?;
            match server.until(|| is_ready(&pid_file, server.pid())) {
                Ok(()) => {
                    self.server = Some(server);
                    return Ok(());
                }
                Err(why) => last = Some(why),
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        Err(last.unwrap_or_else(|| io::Error::other("the server did not start")))
    }

    fn arguments(&self, data: &Path) -> Vec<String> {
        let mut settings = vec![
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={}", self.port),
            "unix_socket_directories=".to_owned(),
            "fsync=off".to_owned(),
            "full_page_writes=off".to_owned(),
            "autovacuum=off".to_owned(),
            "max_connections=200".to_owned(),
        ];
        if self.ca_pem.is_some() {
            let file = |name: &str| self.folder.path().join(name).display().to_string();
            settings.push("ssl=on".to_owned());
            settings.push(format!("ssl_cert_file={}", file("server.crt")));
            settings.push(format!("ssl_key_file={}", file("server.key")));
        }
        for (name, value) in &self.settings.settings {
            settings.push(format!("{name}={value}"));
        }
        let mut arguments = vec!["-D".to_owned(), data.display().to_string()];
        for setting in settings {
            arguments.extend(["-c".to_owned(), setting]);
        }
        arguments
    }

    /// Keeps one process of the server from running, so that its socket stays open and nobody answers.
    ///
    /// # Errors
    ///
    /// Where there is no such process.
    pub fn freeze(&self, pid: i32) -> io::Result<()> {
        signal(pid, Signal::STOP)
    }

    /// Lets a process run that was [frozen](Self::freeze).
    ///
    /// # Errors
    ///
    /// Where there is no such process.
    pub fn thaw(&self, pid: i32) -> io::Result<()> {
        signal(pid, Signal::CONT)
    }
}

fn signal(pid: i32, signal: Signal) -> io::Result<()> {
    let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("0 is no process"))?;
    Ok(kill_process(pid, signal)?)
}

/// The eighth line of the server's own file says how far it is. One that was killed leaves its file behind.
fn is_ready(pid_file: &Path, pid: i32) -> bool {
    std::fs::read_to_string(pid_file).is_ok_and(|text| {
        let mut lines = text.lines().map(str::trim);
        lines.next() == Some(&pid.to_string()) && lines.nth(6) == Some("ready")
    })
}

/// A port that nobody listens on now.
pub(crate) fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// The folder of the server's programs, the newest if there are several.
fn programs() -> io::Result<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    // Debian keeps the programs of each version out of the path.
    for version in std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
    {
        let number = version.file_name().to_string_lossy().parse().unwrap_or(0);
        found.push((number, version.path().join("bin")));
    }
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let by_path = std::env::split_paths(&path);
    let mut folders = found
        .into_iter()
        .rev()
        .map(|(_, folder)| folder)
        .chain(by_path);
    folders
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "the server PostgreSQL is not installed: apt-get install postgresql, or let cargo testbed do it",
            )
        })
}

fn write_certificate(
    folder: &Folder,
    certificate: Certificate,
    user: Option<User>,
) -> io::Result<String> {
    let files = certificate::pem_files(certificate).map_err(io::Error::other)?;
    folder.write("server.crt", &files.certificate, user)?;
    folder.write("server.key", &files.key, user)?;
    Ok(files.authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_private_answers_comes_back_and_leaves_nothing() {
        let mut server = Postgres::builder()
            .setting("max_connections", 7)
            .start()
            .unwrap();
        assert_eq!(server.sql("SHOW max_connections").unwrap(), "7");
        server.sql("CREATE TABLE kept AS SELECT 1 AS one").unwrap();
        server.crash().unwrap();
        assert!(server.sql("SELECT 1").is_err());
        server.start_again().unwrap();
        server.stop().unwrap();
        server.start_again().unwrap();
        assert_eq!(server.sql("SELECT one FROM kept").unwrap(), "1");
        let folder = server.folder.path().to_owned();
        drop(server);
        assert!(!folder.exists());
    }
}
