//! What is asked of the server.

use crate::slot;
use redis::{Arg, Cmd, Pipeline, Script as Hashed};
use std::sync::Arc;

/// Commands that do not answer once, or that change what later requests on the same connection mean.
const REFUSED: &[(&str, &str)] = &[
    ("AUTH", "give the user and the password in the URL"),
    ("CLIENT REPLY", "every request must have its reply"),
    ("DISCARD", "use Request::transaction"),
    ("EXEC", "use Request::transaction"),
    ("HELLO", "give the protocol in the URL: ?protocol=resp3"),
    ("MONITOR", "it never ends"),
    ("MULTI", "use Request::transaction"),
    ("PSUBSCRIBE", "its messages answer nothing"),
    ("PSYNC", "it never ends"),
    ("QUIT", "it closes a connection that others use"),
    ("RESET", "it changes a connection that others use"),
    ("SELECT", "give the database in the URL: redis://host/1"),
    ("SSUBSCRIBE", "its messages answer nothing"),
    ("SUBSCRIBE", "its messages answer nothing"),
    ("SYNC", "it never ends"),
    ("WATCH", "other requests share the connection; use a script"),
];

/// Why something is no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// A command without a word, or a pipeline without a command.
    #[error("there is no command; write one such as GET key:1")]
    Empty,
    /// The command does not answer once, or changes what later requests on its connection mean.
    #[error("{command} cannot be a request: {instead}")]
    Refused {
        /// The command.
        command: &'static str,
        /// Why, or what to do instead.
        instead: &'static str,
    },
    /// No node of a cluster has all of the keys.
    #[error(
        "the keys of {command} are in several slots of the cluster, which no node carries out: give them a part in braces \
         in common, such as {{user:1}}:name and {{user:1}}:age, or ask for each by itself"
    )]
    SeveralSlots {
        /// The command.
        command: String,
    },
}

/// One request: a command, a pipeline or transaction of several, or a script. Cloning is cheap.
///
/// ```
/// use openloop_redis::{Request, Script};
///
/// let get = Request::command(["GET", "key:41"])?;
/// // Sent at once, answered one after the other; other clients may come in between.
/// let pipeline = Request::pipeline([["INCR", "a"], ["INCR", "b"]])?;
/// // The same between MULTI and EXEC: nobody comes in between.
/// let transaction = Request::transaction([["INCR", "a"], ["INCR", "b"]])?;
/// // By its hash; a server that does not know it is told, and the call shows it.
/// let script = Script::new("return redis.call('incrby', KEYS[1], ARGV[1])");
/// let scripted = Request::script(&script, ["counter"], ["5"]);
/// # Ok::<(), openloop_redis::RequestError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Request(pub(crate) Arc<Commands>);

/// What goes over the wire.
#[derive(Debug)]
pub(crate) enum Commands {
    One(Cmd),
    Several(Pipeline),
    /// Called by its hash.
    Scripted(Cmd, Script),
}

impl Commands {
    /// The command, where there is one: it may be sent again where a node did not carry it out.
    pub(crate) fn single(&self) -> Option<&Cmd> {
        match self {
            Commands::One(command) | Commands::Scripted(command, _) => Some(command),
            Commands::Several(_) => None,
        }
    }
}

/// A Lua script, called by its hash.
///
/// The server keeps scripts by their hash until it ends. Where it does not know one it is sent, once, and the call that
/// met this counts it under `scripts_loaded`.
#[derive(Clone, Debug)]
pub struct Script(Arc<Source>);

#[derive(Debug)]
struct Source {
    code: String,
    hash: String,
}

impl Script {
    /// A script in the server's language, Lua, with `KEYS` and `ARGV`.
    #[must_use]
    pub fn new(code: impl Into<String>) -> Self {
        let code = code.into();
        let hash = Hashed::new(&code).get_hash().to_owned();
        Script(Arc::new(Source { code, hash }))
    }

    /// The SHA-1 of its text, in hexadecimal.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.0.hash
    }

    pub(crate) fn load(&self) -> Cmd {
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(&self.0.code);
        load
    }
}

impl Request {
    /// A command and its arguments, word by word: nothing is quoted, and words may hold any bytes.
    ///
    /// # Errors
    ///
    /// [`RequestError`] where there is no word, and for commands that are no requests: those that never end, and those
    /// that change a connection.
    pub fn command<W: AsRef<[u8]>>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, RequestError> {
        Ok(Request(Arc::new(Commands::One(command(words)?))))
    }

    /// Several commands that are written at once; the reply has theirs, in order.
    ///
    /// # Errors
    ///
    /// As [`command`](Self::command), and where there are none.
    pub fn pipeline<C, W>(commands: impl IntoIterator<Item = C>) -> Result<Self, RequestError>
    where
        C: IntoIterator<Item = W>,
        W: AsRef<[u8]>,
    {
        Self::several(commands, false)
    }

    /// Several commands between `MULTI` and `EXEC`, written at once; the last of the replies is that of `EXEC`.
    ///
    /// # Errors
    ///
    /// As [`command`](Self::command), and where there are none.
    pub fn transaction<C, W>(commands: impl IntoIterator<Item = C>) -> Result<Self, RequestError>
    where
        C: IntoIterator<Item = W>,
        W: AsRef<[u8]>,
    {
        Self::several(commands, true)
    }

    fn several<C, W>(
        commands: impl IntoIterator<Item = C>,
        is_transaction: bool,
    ) -> Result<Self, RequestError>
    where
        C: IntoIterator<Item = W>,
        W: AsRef<[u8]>,
    {
        let mut pipeline = redis::pipe();
        if is_transaction {
            pipeline.cmd("MULTI");
        }
        let before = pipeline.len();
        for words in commands {
            pipeline.add_command(command(words)?);
        }
        if pipeline.len() == before {
            return Err(RequestError::Empty);
        }
        if is_transaction {
            pipeline.cmd("EXEC");
        }
        Ok(Request(Arc::new(Commands::Several(pipeline))))
    }

    /// Whether a cluster can carry it out: a command, a script or a transaction needs all of its keys in one slot. The
    /// commands of a pipeline may each go to another node.
    pub(crate) fn check_slots(&self) -> Result<(), RequestError> {
        let several = |pipeline: &Pipeline| {
            let is_transaction = is_transaction(pipeline);
            let mut common = None;
            for command in pipeline.cmd_iter() {
                if !is_transaction {
                    common = None;
                }
                check_slot(command, &mut common)?;
            }
            Ok(())
        };
        match &*self.0 {
            Commands::One(command) | Commands::Scripted(command, _) => {
                check_slot(command, &mut None)
            }
            Commands::Several(pipeline) => several(pipeline),
        }
    }

    /// A call of a script with its keys and arguments.
    #[must_use]
    pub fn script<K: AsRef<[u8]>, A: AsRef<[u8]>>(
        script: &Script,
        keys: impl IntoIterator<Item = K>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let keys: Vec<K> = keys.into_iter().collect();
        let mut call = redis::cmd("EVALSHA");
        call.arg(script.hash()).arg(keys.len());
        for key in &keys {
            call.arg(key.as_ref());
        }
        for argument in arguments {
            call.arg(argument.as_ref());
        }
        Request(Arc::new(Commands::Scripted(call, script.clone())))
    }
}

/// Whether nobody comes in between its commands.
pub(crate) fn is_transaction(pipeline: &Pipeline) -> bool {
    let first = pipeline.cmd_iter().next();
    let name = first.and_then(|command| command.args_iter().next());
    matches!(name, Some(Arg::Simple(b"MULTI")))
}

/// Fails if a key of `command` is of another slot than `common`, which is that of the first key that was seen.
fn check_slot(command: &Cmd, common: &mut Option<u16>) -> Result<(), RequestError> {
    for key in slot::keys_of(command) {
        let slot = slot::of_key(key);
        if *common.get_or_insert(slot) != slot {
            let words = command.args_iter().map(|word| match word {
                Arg::Simple(word) => String::from_utf8_lossy(word).into_owned(),
                _ => String::new(),
            });
            let words: Vec<_> = words.take(4).collect();
            return Err(RequestError::SeveralSlots {
                command: words.join(" "),
            });
        }
    }
    Ok(())
}

fn command<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Result<Cmd, RequestError> {
    let mut command = Cmd::new();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (number, word) in words.into_iter().enumerate() {
        match number {
            0 => first = word.as_ref().to_owned(),
            1 => second = word.as_ref().to_owned(),
            _ => {}
        }
        command.arg(word.as_ref());
    }
    if first.is_empty() {
        return Err(RequestError::Empty);
    }
    for &(refused, instead) in REFUSED {
        let (name, sub) = refused.split_once(' ').unwrap_or((refused, ""));
        let is_refused = first.eq_ignore_ascii_case(name.as_bytes())
            && (sub.is_empty() || second.eq_ignore_ascii_case(sub.as_bytes()));
        if is_refused {
            return Err(RequestError::Refused {
                command: refused,
                instead,
            });
        }
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(request: &Request) -> String {
        let bytes = match &*request.0 {
            Commands::One(command) | Commands::Scripted(command, _) => command.get_packed_command(),
            Commands::Several(pipeline) => pipeline.get_packed_pipeline(),
        };
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn words_go_over_the_wire_as_they_are() {
        let request = Request::command(["SET", "a key", ""]).unwrap();
        assert_eq!(
            packed(&request),
            "*3\r\n$3\r\nSET\r\n$5\r\na key\r\n$0\r\n\r\n"
        );
        let transaction = Request::transaction([["INCR", "a"]]).unwrap();
        assert_eq!(
            packed(&transaction),
            "*1\r\n$5\r\nMULTI\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n*1\r\n$4\r\nEXEC\r\n"
        );
    }

    #[test]
    fn scripts_are_called_by_the_sha_1_of_their_text() {
        // sha1sum of "return 1", as redis-cli's SCRIPT LOAD prints it.
        let script = Script::new("return 1");
        assert_eq!(script.hash(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
        let call = Request::script(&script, ["k"], ["a", "b"]);
        let expected = format!(
            "*6\r\n$7\r\nEVALSHA\r\n$40\r\n{}\r\n$1\r\n1\r\n$1\r\nk\r\n$1\r\na\r\n$1\r\nb\r\n",
            script.hash()
        );
        assert_eq!(packed(&call), expected);
    }

    #[test]
    fn a_cluster_carries_out_what_is_of_one_slot() {
        let check = |request: Result<Request, RequestError>| request.unwrap().check_slots();
        assert!(check(Request::command(["MGET", "{a}1", "{a}2"])).is_ok());
        assert!(check(Request::command(["PING"])).is_ok());
        // Of slots 15495 and 3300.
        let apart = [["INCR", "a"], ["INCR", "b"]];
        assert!(check(Request::pipeline(apart)).is_ok());
        let script = Script::new("");
        let none: [&str; 0] = [];
        for refused in [
            Request::command(["MGET", "a", "b"]),
            Request::pipeline([["RENAME", "a", "b"]]),
            Request::transaction(apart),
            Ok(Request::script(&script, ["a", "b"], none)),
        ] {
            let why = check(refused).unwrap_err().to_string();
            assert!(why.contains("{user:1}:name"), "{why}");
        }
    }

    #[test]
    fn what_is_no_request_is_refused_and_says_what_to_do() {
        let none: [&str; 0] = [];
        assert_eq!(Request::command(none).unwrap_err(), RequestError::Empty);
        assert_eq!(Request::command([""]).unwrap_err(), RequestError::Empty);
        let no_commands: [[&str; 1]; 0] = [];
        assert_eq!(
            Request::transaction(no_commands).unwrap_err(),
            RequestError::Empty
        );
        for (words, named) in [
            (["subscribe", "a"], "SUBSCRIBE cannot be a request"),
            (["Client", "reply"], "CLIENT REPLY"),
            (["select", "1"], "redis://host/1"),
            (["MULTI", ""], "Request::transaction"),
        ] {
            let why = Request::command(words).unwrap_err().to_string();
            assert!(why.contains(named), "{why}");
        }
        assert!(Request::command(["CLIENT", "ID"]).is_ok());
    }
}
