//! What the end-to-end tests need: the program, a server, a client, Git remotes, and patience with a limit.

pub(crate) mod catalogue;
mod client;
mod expect;
pub(crate) mod git_http;
pub(crate) mod hostile;
pub(crate) mod objects;
pub(crate) mod process;
pub(crate) mod registries;
pub(crate) mod repository;
mod server;
pub(crate) mod sshd;
pub(crate) mod tls;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

pub(crate) use client::{Answer, get, post, post_with, send_with as send};
pub(crate) use expect::{Expectation, case_files};
pub(crate) use git_http::GitRemote;
pub(crate) use repository::{Commit, Repository};
pub(crate) use server::Server;

/// The longest any test waits for one thing: generous, for a busy machine; a passing test never waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(45);

/// The root of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in the workspace")
}

/// The registry the README serves.
pub(crate) fn example_registry() -> PathBuf {
    workspace().join("examples/registry")
}

/// What `formwork serve` calls the example registry when it is given as a bare directory.
pub(crate) fn example_name() -> String {
    "localhost/examples/registry".to_owned()
}

/// The program under test, in an environment with nothing of this machine's but the path to programs.
pub(crate) fn formwork() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_formwork"));
    command.env_clear();
    for name in ["PATH", "TMPDIR", "LLVM_PROFILE_FILE"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("NO_COLOR", "1");
    // Compiled once for all tests.
    command.env("FORMWORK_PYTHON_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("python"));
    command
}

/// Runs a command with something on standard input.
pub(crate) fn run_with(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("standard input is piped");
    // A program that does not read its input closes the pipe; that is its right.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}

/// Waits until `attempt` gives something.
///
/// # Panics
/// After [`PATIENCE`], saying what was waited for.
pub(crate) fn wait_for<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = attempt() {
            return value;
        }
        assert!(started.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain for {what}");
        std::thread::sleep(Duration::from_millis(15));
    }
}

/// Says that a test cannot run here. Written to the stream itself, which the test harness does not capture.
pub(crate) fn skipped(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED: {}: {why}", thread.name().unwrap_or("a test"));
}

/// Whether the git program is here; says loudly that the test is skipped if not.
pub(crate) fn git_or_skip() -> bool {
    let here = repository::git_is_installed();
    if !here {
        skipped("the git program with git-http-backend is not installed");
    }
    here
}
