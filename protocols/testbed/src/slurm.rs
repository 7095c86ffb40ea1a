//! A real Slurm of one node.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use rustix::process::geteuid;
use rustix::system::uname;

use crate::daemon::{Daemon, Folder};
use crate::postgres::free_port;
use crate::web::find;

/// A Slurm cluster whose one node is this machine: a controller, a node's daemon, and MUNGE, which lets them trust each
/// other; all in a temporary folder, and ended when it is dropped.
///
/// # Examples
///
/// ```no_run
/// use openloop_testbed::Slurm;
///
/// let slurm = Slurm::start(4)?;
/// let tasks = slurm.command("srun").args(["-n", "4", "sh", "-c", "echo $SLURM_PROCID"]).output()?;
/// assert_eq!(tasks.stdout.len(), 8);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Slurm {
    // End before their folder is removed, the node first.
    _daemons: [Daemon; 3],
    folder: Folder,
}

impl Slurm {
    /// Starts a cluster that takes this machine to have so many cores, and returns once it takes jobs.
    ///
    /// # Errors
    /// Where a program is missing, with what to install, and where one ends before it is ready, with its last words.
    pub fn start(cores: u32) -> io::Result<Self> {
        let program = |name, package| find(name, package);
        let folder = Folder::new("slurm", None)?;
        let path = folder.path();
        for name in ["state", "spool", "munge", "controller", "node"] {
            fs::create_dir(path.join(name))?;
        }
        let key: Vec<u8> = fs::read("/proc/sys/kernel/random/uuid")?.repeat(4);
        folder.write("key", &String::from_utf8_lossy(&key), None)?;
        let host = uname().nodename().to_string_lossy().into_owned();
        let host = host.split('.').next().unwrap_or("localhost").to_owned();
        folder.write("slurm.conf", &configuration(path, &host, cores)?, None)?;

        let in_folder = |name: &str| path.join(name).display().to_string();
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>()
        };
        let mut munge = words(&["--foreground", "--force"]);
        for (flag, file) in [
            ("key-file", "key"),
            ("socket", "munge.socket"),
            ("pid-file", "munge.pid"),
            ("log-file", "munge.log"),
            ("seed-file", "munge.seed"),
        ] {
            munge.push(format!("--{flag}={}", in_folder(file)));
        }
        let munged = program("munged", "munge")?;
        let munge = Daemon::start(&munged, &munge, "TERM", &path.join("munge"), None)?;
        munge.until(|| path.join("munge.socket").exists())?;
        let configured = in_folder("slurm.conf");
        let controller = words(&["-D", "-f", &configured]);
        let slurmctld = program("slurmctld", "slurm-wlm")?;
        let controller = Daemon::start(
            &slurmctld,
            &controller,
            "TERM",
            &path.join("controller"),
            None,
        )?;
        let node = words(&["-D", "-f", &configured, "-N", &host]);
        let slurmd = program("slurmd", "slurm-wlm")?;
        let node = Daemon::start(&slurmd, &node, "TERM", &path.join("node"), None)?;
        let slurm = Slurm {
            _daemons: [node, controller, munge],
            folder,
        };
        slurm._daemons[0].until(|| slurm.takes_jobs())?;
        Ok(slurm)
    }

    /// A program of Slurm's that speaks to this cluster: `sbatch`, `srun`, `sinfo`.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        command
    }

    fn takes_jobs(&self) -> bool {
        let state = self.command("sinfo").args(["-h", "-o", "%T"]).output();
        state.is_ok_and(|state| state.stdout.trim_ascii() == b"idle")
    }
}

/// Without control groups, and without a database: what a container can do.
fn configuration(folder: &Path, host: &str, cores: u32) -> io::Result<String> {
    let (folder, user) = (folder.display(), geteuid().as_raw());
    let (controller, node) = (free_port()?, free_port()?);
    Ok(format!(
        "ClusterName=openloop
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores}
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"
    ))
}
