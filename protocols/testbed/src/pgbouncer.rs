//! A real pooler between clients and a PostgreSQL server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};

use crate::Postgres;
use crate::daemon::{Daemon, Folder, User};
use crate::postgres::free_port;

/// A private `PgBouncer` in session mode in front of a [`Postgres`] that trusts everybody: a client has one of its
/// server's connections from its connect to its end.
///
/// It ends when it is dropped, or with the process that started it.
#[derive(Debug)]
pub struct PgBouncer {
    // Ends before its folder is removed.
    _daemon: Daemon,
    port: u16,
    _folder: Folder,
}

impl PgBouncer {
    /// Starts one that holds at most `pool_size` connections to `server`.
    ///
    /// # Errors
    ///
    /// Where it is not installed (with what to install), or what it said when it did not start.
    pub fn start(server: &Postgres, pool_size: usize) -> io::Result<Self> {
        let program = program()?;
        let user = User::unprivileged()?;
        let folder = Folder::new("pgbouncer", user)?;
        let port = free_port()?;
        let settings = format!(
            "[databases]\n\
             postgres = host=127.0.0.1 port={} dbname=postgres user=postgres\n\
             [pgbouncer]\n\
             listen_addr = 127.0.0.1\n\
             listen_port = {port}\n\
             unix_socket_dir =\n\
             auth_type = any\n\
             pool_mode = session\n\
             default_pool_size = {pool_size}\n\
             max_client_conn = 1000\n",
            server.addr().port()
        );
        let file = folder.write("pgbouncer.ini", &settings, user)?;
        let arguments = [file.display().to_string()];
        let daemon = Daemon::start(&program, &arguments, "TERM", folder.path(), user)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        daemon.until(|| TcpStream::connect(address).is_ok())?;
        Ok(PgBouncer {
            _daemon: daemon,
            port,
            _folder: folder,
        })
    }

    /// The connection string of the database behind it.
    #[must_use]
    pub fn dsn(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

fn program() -> io::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Debian keeps servers where only root looks.
    let mut folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders
        .find_map(|folder| Some(folder.join("pgbouncer")).filter(|file| Path::is_file(file)))
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "PgBouncer is not installed: apt-get install pgbouncer, or let cargo testbed do it",
            )
        })
}
