//! A real NTP server.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use rustix::process::geteuid;

use crate::daemon::{Daemon, Folder};
use crate::postgres::free_port;
use crate::web::find;

/// chrony on 127.0.0.1, which serves the clock of this machine, as it is, and never sets it. It ends when it is dropped.
#[derive(Debug)]
pub struct Chrony {
    // Ends before its folder is removed.
    _daemon: Daemon,
    _folder: Folder,
    port: u16,
}

impl Chrony {
    /// Starts it, and returns once it tells the time.
    ///
    /// # Errors
    /// Where it is missing, with what to install, and where it ends before it answers, with its last words.
    pub fn start() -> io::Result<Self> {
        let program = find("chronyd", "chrony")?;
        let folder = Folder::new("chrony", None)?;
        let port = free_port()?;
        let path = folder.path().display();
        let configuration = format!(
            "port {port}\nbindaddress 127.0.0.1\nallow 127.0.0.1\nlocal stratum 8\ncmdport 0\nbindcmdaddress /\npidfile {path}/pid\n"
        );
        let file = folder.write("chrony.conf", &configuration, None)?;
        // Without the rights to set a clock, and without their being asked for.
        let mut arguments: Vec<String> = ["-U", "-x", "-d", "-f"].map(str::to_owned).to_vec();
        arguments.push(file.display().to_string());
        if geteuid().is_root() {
            arguments.extend(["-u".to_owned(), "root".to_owned()]);
        }
        let daemon = Daemon::start(&program, &arguments, "TERM", folder.path(), None)?;
        daemon.until(|| tells_the_time(port))?;
        Ok(Chrony {
            _daemon: daemon,
            _folder: folder,
            port,
        })
    }

    /// Where clients find it: `127.0.0.1:PORT`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// Whether it answers a client of version 4 by a server's message.
fn tells_the_time(port: u16) -> bool {
    let mut message = [0; 48];
    message[0] = 0x23;
    // A transmit timestamp that is none is not answered by all.
    message[40] = 1;
    let answer = || -> io::Result<u8> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect((Ipv4Addr::LOCALHOST, port))?;
        socket.set_read_timeout(Some(Duration::from_millis(200)))?;
        socket.send(&message)?;
        let mut answer = [0; 48];
        socket.recv(&mut answer)?;
        Ok(answer[0] & 7)
    };
    answer().is_ok_and(|mode| mode == 4)
}
