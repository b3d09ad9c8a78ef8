//! Git through a program: `ssh` to a server, or `git` itself for a repository on this machine.
//!
//! The program gets arguments we wrote and nothing else: no shell, no configuration file, no terminal, an environment
//! of its own. What it says is read under the budget of the fetch; when it is no longer needed it is killed.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gix::protocol::transport::Protocol;
use gix::protocol::transport::client::git::ConnectMode;
use gix::protocol::transport::client::git::blocking_io::Connection;

use super::budget::Budget;
use crate::connection::ReadyConnection;
use crate::source::address::LookupError;
use crate::source::{Addresses, GitUrl};

/// Bytes a program hands on at a time, and how many such pieces may wait.
const PIECE: usize = 64 << 10;
const WAITING: usize = 4;

/// Bytes kept of what a program says on standard error.
const KEPT_WORDS: usize = 4 << 10;

/// How long the last words of a program that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Why a program could not be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProgramError {
    #[error(
        "no `known-hosts` file is given: put the server's key in one (`ssh-keyscan {0}`, compared to what the server's owner publishes)"
    )]
    NoKnownHosts(String),
    #[error("there is no key to log in with: give `ssh-key`, or `ssh-agent = true`")]
    NoKey,
    #[error("the path {0} has characters that ssh does not take in an option")]
    Path(String),
    #[error("the program `{program}` could not be started: {error}")]
    Start { program: String, error: io::Error },
    #[error(transparent)]
    Lookup(#[from] LookupError),
}

/// What gix talks through.
pub(super) type Transport = Connection<Output, ChildStdin>;

/// A running program, killed when it is dropped.
pub(super) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already; either way it is gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The ssh program, asking a server for the repository of `url`.
pub(super) fn ssh(
    url: &GitUrl,
    connection: &ReadyConnection,
    budget: Arc<Budget>,
) -> Result<(Transport, Running), ProgramError> {
    let options = &connection.ssh;
    let known_hosts =
        options.known_hosts.as_deref().ok_or_else(|| ProgramError::NoKnownHosts(url.host().to_owned()))?;
    if options.key.is_none() && !options.agent {
        return Err(ProgramError::NoKey);
    }
    let mut command = Command::new("ssh");
    command.env_clear();
    // `-F` with another file keeps the user's and the system's configuration out.
    command.args(["-F", "/dev/null", "-T", "-a", "-x"]);
    for option in [
        "BatchMode=yes",
        "StrictHostKeyChecking=yes",
        "GlobalKnownHostsFile=/dev/null",
        "UpdateHostKeys=no",
        "CheckHostIP=no",
        "IdentitiesOnly=yes",
        "PreferredAuthentications=publickey",
        "ClearAllForwardings=yes",
        "PermitLocalCommand=no",
        "CanonicalizeHostname=no",
        "ConnectTimeout=20",
        "ServerAliveInterval=15",
        "ServerAliveCountMax=3",
        "LogLevel=ERROR",
        "SendEnv=GIT_PROTOCOL",
    ] {
        command.args(["-o", option]);
    }
    command.arg("-o").arg(format!("UserKnownHostsFile={}", path_option(known_hosts)?));
    match &options.key {
        Some(key) => command.arg("-o").arg(format!("IdentityFile={}", path_option(key)?)),
        None => command.args(["-o", "IdentityFile=none", "-o", "IdentitiesOnly=no"]),
    };
    if options.agent {
        std::env::var_os("SSH_AUTH_SOCK").map(|socket| command.env("SSH_AUTH_SOCK", socket));
    } else {
        command.args(["-o", "IdentityAgent=none"]);
    }
    let port = url.port().unwrap_or(22);
    command.args(["-p", &port.to_string()]);
    if let Some(user) = url.user() {
        command.args(["-l", user]);
    }
    if connection.addresses == Addresses::Any {
        command.args(["--", url.bare_host()]);
    } else {
        // The very address that was checked is connected to; the host's key is still looked up by its name.
        let found = connection.addresses.look_up(url.bare_host(), port)?;
        let address = found.first().map(|address| address.ip().to_string()).unwrap_or_default();
        let name = url.bare_host();
        let alias = if port == 22 { name.to_owned() } else { format!("[{name}]:{port}") };
        command.arg("-o").arg(format!("HostKeyAlias={alias}")).args(["--", &address]);
    }
    command.arg(format!("git-upload-pack {}", shell_quoted(remote_path(url.path()))));
    start(command, url.path(), budget)
}

/// The git program, serving a repository on this machine.
pub(super) fn local(path: &Path, budget: Arc<Budget>) -> Result<(Transport, Running), ProgramError> {
    let mut command = Command::new("git");
    // Nothing from configuration files of this machine; what the repository's own says about serving does count.
    command
        .env_clear()
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .args(["upload-pack", "--"])
        .arg(path);
    start(command, &path.display().to_string(), budget)
}

/// A path in an option of ssh: quoted for spaces, and with `%`, which ssh expands, doubled.
fn path_option(path: &Path) -> Result<String, ProgramError> {
    let text = path.to_str().filter(|text| !text.contains(|c: char| c.is_control() || "\"\\$".contains(c)));
    let text = text.ok_or_else(|| ProgramError::Path(path.display().to_string()))?;
    Ok(format!("\"{}\"", text.replace('%', "%%")))
}

/// `/~user/x` names a directory in a user's home, which the other side knows as `~user/x`.
fn remote_path(path: &str) -> &str {
    if path.starts_with("/~") { &path[1..] } else { path }
}

/// One word for the shell on the other side.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn start(
    mut command: Command,
    path: &str,
    budget: Arc<Budget>,
) -> Result<(Transport, Running), ProgramError> {
    let program = command.get_program().to_string_lossy().into_owned();
    if let Some(search) = std::env::var_os("PATH") {
        command.env("PATH", search);
    }
    command.env("GIT_PROTOCOL", "version=2").env("LC_ALL", "C");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error| ProgramError::Start { program: program.clone(), error };
    let mut child = command.spawn().map_err(failed)?;
    let (Some(input), Some(output), Some(errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(failed(io::Error::other("its pipes are missing")));
    };
    let (sender, pieces) = sync_channel(WAITING);
    std::thread::spawn(move || hand_on(output, &sender));
    let words = Arc::new(Mutex::new(Vec::new()));
    let (ended, silence) = sync_channel::<()>(0);
    std::thread::spawn({
        let words = words.clone();
        move || {
            listen(errors, &words);
            drop(ended);
        }
    });
    let output = Output { pieces, piece: Vec::new(), at: 0, budget, words, silence };
    let none: Option<(String, Option<u16>)> = None;
    let transport = Connection::new(output, input, Protocol::V2, path, none, ConnectMode::Process, false);
    Ok((transport, Running(child)))
}

/// Hands on what a program writes, so that a wait for it can end.
fn hand_on(mut output: impl Read, pieces: &std::sync::mpsc::SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut piece = vec![0; PIECE];
        match output.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                piece.truncate(count);
                if pieces.send(Ok(piece)).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                // Nobody may be listening any more.
                let _ = pieces.send(Err(error));
                return;
            }
        }
    }
}

/// Keeps the first words of a program, and lets the others go by.
fn listen(mut errors: ChildStderr, words: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        let room = KEPT_WORDS.saturating_sub(words.len()).min(count);
        words.extend_from_slice(&buffer[..room]);
    }
}

/// What a program writes, under the budget of the fetch.
pub(super) struct Output {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    at: usize,
    budget: Arc<Budget>,
    words: Arc<Mutex<Vec<u8>>>,
    silence: Receiver<()>,
}

impl Output {
    /// The program has ended before we had what we wanted: what it said is why.
    fn end(&self) -> io::Result<usize> {
        // It ends with an error either way: when the other thread is done, or when it takes too long.
        let _ = self.silence.recv_timeout(LAST_WORDS);
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&words);
        let lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut lines = lines.map(|line| line.replace(char::is_control, " ")).collect::<Vec<_>>();
        // The last words say why; ssh puts a banner before them.
        lines.drain(..lines.len().saturating_sub(2));
        if lines.is_empty() { Ok(0) } else { Err(io::Error::other(lines.join("; "))) }
    }
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            self.piece = match self.pieces.recv_timeout(self.budget.patience()) {
                Ok(piece) => piece?,
                Err(RecvTimeoutError::Timeout) => return Err(self.budget.in_vain()),
                Err(RecvTimeoutError::Disconnected) => return self.end(),
            };
            self.at = 0;
            self.budget.take(self.piece.len())?;
        }
        let count = buffer.len().min(self.piece.len() - self.at);
        buffer[..count].copy_from_slice(&self.piece[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_a_shell_or_an_option_is_one_word() {
        assert_eq!(shell_quoted("a'; rm -rf '/"), "'a'\\''; rm -rf '\\''/'");
        assert_eq!(remote_path("/~git/a"), "~git/a");
        assert_eq!(remote_path("/srv/a"), "/srv/a");
        assert_eq!(path_option(Path::new("/a b/50%")).unwrap(), "\"/a b/50%%\"");
        assert!(path_option(Path::new("/a\"b")).is_err() && path_option(Path::new("/${X}")).is_err());
    }
}
