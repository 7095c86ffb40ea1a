//! Real web servers, each of a kind that behaves like a known queue.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::daemon::{Daemon, Folder, User};

/// A private Node.js, nginx or Gunicorn on a free port of 127.0.0.1, whose answers take time of a known kind.
///
/// It ends when it is dropped, or with the process that started it.
///
/// | server | a request | behaves like |
/// | --- | --- | --- |
/// | [`Web::node`] | keeps the main thread busy for an exponential time | M/M/1 |
/// | [`Web::nginx`] | is compressed by the one worker, always the same work | M/D/1 |
/// | [`Web::gunicorn`] | has one of the sync workers sleep for an exponential time | M/M/c |
#[derive(Debug)]
pub struct Web {
    // Ends before its folder is removed.
    _daemon: Daemon,
    port: u16,
    _folder: Folder,
}

impl Web {
    /// A Node.js server of one thread, each of whose requests computes for `mean` on the average.
    ///
    /// # Errors
    ///
    /// Where it is not installed (with what to install), or what it said when it did not start.
    pub fn node(mean: Duration) -> io::Result<Self> {
        let script = format!(
            "require('http').createServer((request, response) => {{\n\
             \x20 const until = performance.now() - Math.log(1 - Math.random()) * {};\n\
             \x20 while (performance.now() < until);\n\
             \x20 response.end('ok');\n\
             }}).listen(PORT, '127.0.0.1', 4096);\n",
            mean.as_secs_f64() * 1e3
        );
        Web::start("node", "nodejs", |folder, port, user| {
            let script = script.replace("PORT", &port.to_string());
            let file = folder.write("server.js", &script, user)?;
            Ok(vec![file.display().to_string()])
        })
    }

    /// An nginx of one worker, each of whose requests compresses `bytes` of text anew.
    ///
    /// # Errors
    ///
    /// As for [`Web::node`].
    pub fn nginx(bytes: usize) -> io::Result<Self> {
        Web::start("nginx", "nginx", |folder, port, user| {
            let words = "the quick brown fox jumps over the lazy dog of number ";
            let mut text = String::with_capacity(bytes + words.len() + 8);
            for number in 0.. {
                if text.len() >= bytes {
                    break;
                }
                // Text that a compressor has to look for.
                text.push_str(&words[number % 20..]);
                text.push_str(&(number * 7919 % 10_007).to_string());
            }
            folder.write("index.txt", &text, user)?;
            let root = folder.path().display();
            let settings = format!(
                "daemon off;\nworker_processes 1;\npid {root}/pid;\nerror_log stderr;\n\
                 events {{ worker_connections 4096; }}\n\
                 http {{\n\
                 \x20 access_log off;\n\
                 \x20 client_body_temp_path {root}; proxy_temp_path {root}; fastcgi_temp_path {root};\n\
                 \x20 uwsgi_temp_path {root}; scgi_temp_path {root};\n\
                 \x20 keepalive_requests 1000000;\n\
                 \x20 gzip on; gzip_comp_level 9; gzip_types text/plain; gzip_buffers 512 8k;\n\
                 \x20 server {{\n\
                 \x20   listen 127.0.0.1:{port} backlog=4096;\n\
                 \x20   default_type text/plain; root {root}; index index.txt;\n\
                 \x20 }}\n\
                 }}\n"
            );
            let file = folder.write("nginx.conf", &settings, user)?;
            let words = ["-c", &file.display().to_string(), "-e", "stderr"];
            Ok(words.map(str::to_owned).into())
        })
    }

    /// A Gunicorn of `workers` sync workers, in each of which a request sleeps for `mean` on the average: as one that
    /// waits for a database. It closes each connection after its answer.
    ///
    /// # Errors
    ///
    /// As for [`Web::node`].
    pub fn gunicorn(workers: u32, mean: Duration) -> io::Result<Self> {
        let script = format!(
            "import random, time\n\
             def app(environ, start_response):\n\
             \x20   time.sleep(random.expovariate(1 / {}))\n\
             \x20   start_response('200 OK', [('Content-Length', '2')])\n\
             \x20   return [b'ok']\n",
            mean.as_secs_f64()
        );
        Web::start("gunicorn", "gunicorn", |folder, port, user| {
            folder.write("service.py", &script, user)?;
            let words = [
                "--workers",
                &workers.to_string(),
                "--worker-class",
                "sync",
                "--bind",
                &format!("127.0.0.1:{port}"),
                "--backlog",
                "2048",
                "--chdir",
                &folder.path().display().to_string(),
                "--worker-tmp-dir",
                &folder.path().display().to_string(),
                "service:app",
            ];
            Ok(words.map(str::to_owned).into())
        })
    }

    fn start(
        program: &str,
        package: &str,
        arguments: impl Fn(&Folder, u16, Option<User>) -> io::Result<Vec<String>>,
    ) -> io::Result<Self> {
        let program = find(program, package)?;
        let user = User::unprivileged()?;
        let folder = Folder::new(package, user)?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let arguments = arguments(&folder, port, user)?;
        let daemon = Daemon::start(&program, &arguments, "TERM", folder.path(), user)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        daemon.until(|| TcpStream::connect(address).is_ok())?;
        Ok(Web {
            _daemon: daemon,
            port,
            _folder: folder,
        })
    }

    /// Where it answers.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

pub(crate) fn find(program: &str, package: &str) -> io::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Debian keeps servers where only root looks.
    let mut folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders
        .find_map(|folder| Some(folder.join(program)).filter(|file| Path::is_file(file)))
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                format!(
                    "{program} is not installed: apt-get install {package}, or let cargo testbed --full do it"
                ),
            )
        })
}
