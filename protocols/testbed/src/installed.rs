//! What `cargo testbed` installs by scripts of its own: programs that the system's packages do not have.

use std::io;
use std::path::PathBuf;

/// One thing that a script in the folder `install` of this crate installs, in this version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Installed {
    /// The script, without its ending.
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// What it is for, of what lies in its folder.
    pub(crate) file: &'static str,
    /// The command that runs the script.
    pub(crate) command: &'static str,
}

/// A server of language models that comes ready to run.
pub(crate) const DASLLAMA: Installed = Installed {
    name: "dasllama",
    version: "0.6.6",
    file: "server/dasllama-server.exe",
    command: "cargo testbed",
};
/// The server of llama.cpp, which is compiled.
pub(crate) const LLAMA_SERVER: Installed = Installed {
    name: "llama-server",
    version: "11434",
    file: "llama-server",
    command: "cargo testbed --full",
};
/// The client of vLLM's benchmark.
pub(crate) const VLLM_CLIENT: Installed = Installed {
    name: "vllm-client",
    version: "0.32.0",
    file: "client/endpoint_request_func.py",
    command: "cargo testbed --full",
};

impl Installed {
    /// Its folder, whether it is there or not: in the folder that the variable `OPENLOOP_INSTALLED` names, or else in
    /// the user's cache.
    pub(crate) fn folder(&self) -> io::Result<PathBuf> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let own = variable("OPENLOOP_INSTALLED").map(PathBuf::from);
        let cache = || variable("XDG_CACHE_HOME").map(PathBuf::from);
        let home = || Some(PathBuf::from(variable("HOME")?).join(".cache"));
        let folder = own.or_else(|| Some(cache().or_else(home)?.join("openloop-testbed")));
        let folder = folder.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "there is neither OPENLOOP_INSTALLED nor HOME: no folder to install into, or to look in",
            )
        })?;
        Ok(folder.join(format!("{}-{}", self.name, self.version)))
    }

    /// Its file.
    ///
    /// # Errors
    /// Where it is not there, with what to do.
    pub(crate) fn find(&self) -> io::Result<PathBuf> {
        let file = self.folder()?.join(self.file);
        if file.is_file() {
            return Ok(file);
        }
        let (name, version) = (self.name, self.version);
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!(
                "{name} {version} is not installed ({} is not there): {} does it",
                file.display(),
                self.command
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_named_with_what_to_do() {
        let nothing = Installed {
            name: "no-such-server",
            version: "1.2",
            file: "a/file",
            command: "cargo testbed",
        };
        let error = nothing.find().unwrap_err().to_string();
        for part in ["no-such-server 1.2", "a/file", "cargo testbed does it"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
