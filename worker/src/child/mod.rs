//! One confined child process of this program, as its parent sees it.
//!
//! It is started from the executable that runs, with the environment it is given and nothing else, greeted, and
//! confined before it does anything. Every wait on it ends at a deadline. When it is gone, it is explained why:
//! a limit, or what it said last. This module does not know what is said over the pipe.

mod end;
mod spawn;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::build_id;
use crate::confine::{self, Confinement, Limits, Reach};
use crate::frames::{self, FrameError};
use crate::protocol::{self, Greeting, LONGEST_GREETING, Ready};
use crate::tail::Tail;

pub(crate) use end::in_words;
pub use end::{ChildError, Limit};

/// How long a child may take to come up and answer the greeting. Milliseconds are usual; a busy machine is not a
/// reason to give up.
const START: Duration = Duration::from_secs(20);

/// How long a child that has closed its pipe may take to end, and its last words to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How to start a child, and what it is to be confined to.
#[derive(Debug, Clone)]
pub struct ChildConfig {
    /// The program: [`own_executable`].
    pub program: PathBuf,
    /// The hidden command and what it takes.
    pub arguments: Vec<OsString>,
    /// The whole environment of the child.
    pub environment: Vec<(OsString, OsString)>,
    /// Bytes of data it may hold; `None`: no limit.
    pub memory: Option<u64>,
    /// How long it may take in all, from its start.
    pub wall: Duration,
    /// Bytes of any file it may write; `None`: no limit.
    pub file_size: Option<u64>,
    /// Whether it may use the network or start programs, which some Git transports need.
    pub reach: Reach,
    /// What it may read; for what a reach takes see [`confine::NETWORK_READABLE`] and [`confine::PROGRAMS_READABLE`].
    pub readable: Vec<PathBuf>,
    /// What it may read and write.
    pub writable: Vec<PathBuf>,
}

impl ChildConfig {
    /// A child of this program that may do nothing but compute for a minute.
    pub fn own(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> ChildConfig {
        ChildConfig {
            program: own_executable(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            memory: None,
            wall: Duration::from_secs(60),
            file_size: None,
            reach: Reach::Nothing,
            readable: Vec::new(),
            writable: Vec::new(),
        }
    }
}

/// What runs now, under a name that stays right when the file is replaced or removed.
pub fn own_executable() -> PathBuf {
    // Looked up by the child between fork and exec, where it still names the parent's own program.
    let own = Path::new("/proc/self/exe");
    if own.exists() { own.to_owned() } else { std::env::current_exe().unwrap_or_else(|_| own.to_owned()) }
}

/// A running child. It is killed, with the programs it started, when this is dropped.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    tail: Arc<Mutex<Tail>>,
    listener: JoinHandle<()>,
    confinement: Confinement,
    memory: Option<u64>,
    wall: Duration,
    deadline: Instant,
}

impl Child {
    /// Starts a child, and waits until it is confined.
    ///
    /// # Errors
    /// When it cannot be started, is another build, or ends before it is ready.
    pub async fn start(config: ChildConfig) -> Result<Child, ChildError> {
        let absolute = |paths: Vec<PathBuf>| {
            let each = paths.into_iter().map(std::path::absolute);
            each.collect::<Result<Vec<_>, _>>()
                .map_err(|error| ChildError::Start { message: error.to_string() })
        };
        let files = (absolute(config.readable)?, absolute(config.writable)?);
        let limits = Limits { data: config.memory, file_size: config.file_size, ..Limits::default() };
        let confine = confine::for_child(limits, std::process::id(), config.reach, files);
        let command = command(&config.program, &config.arguments, config.environment)?;
        Child::start_confined(command, Greeting::to(confine, None), config.memory, config.wall).await
    }

    /// Starts a worker: memory is what its caller is told, the limit is that and the reserve.
    pub(crate) async fn start_worker(
        program: &Path,
        arguments: &[OsString],
        memory: u64,
        python: Option<&Path>,
    ) -> Result<Child, ChildError> {
        let limit = memory.saturating_add(protocol::RESERVE);
        let greeting = Greeting::to(confine::for_worker(limit, std::process::id(), python), python);
        Child::start_confined(command(program, arguments, Vec::new())?, greeting, Some(memory), START).await
    }

    async fn start_confined(
        command: Command,
        greeting: Greeting,
        memory: Option<u64>,
        wall: Duration,
    ) -> Result<Child, ChildError> {
        let started = Instant::now();
        let name = command.as_std().get_program().to_owned();
        let failed =
            |why: String| ChildError::Start { message: format!("{} did not start: {why}", name.display()) };
        let mut process = spawn::spawn(command).await.map_err(|error| failed(error.to_string()))?;
        let (Some(input), Some(output), Some(errors)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(failed("its pipes are missing".to_owned()));
        };
        let tail = Arc::new(Mutex::new(Tail::default()));
        let listener = tokio::spawn(listen(errors, Arc::clone(&tail)));
        let mut child = Child {
            process,
            input: Some(input),
            output,
            tail,
            listener,
            confinement: Confinement::default(),
            memory,
            wall: START,
            deadline: started + START,
        };
        child.greet(&greeting).await?;
        child.allow_from(started, wall);
        Ok(child)
    }

    async fn greet(&mut self, greeting: &Greeting) -> Result<(), ChildError> {
        let greeting = protocol::encode(greeting);
        let answer = match self.send(&greeting).await {
            Ok(()) => self.receive(LONGEST_GREETING).await,
            Err(error) => Err(error),
        };
        let ready = match answer {
            Ok(Some(ready)) => protocol::decode::<Ready>(&ready),
            Ok(None) => Err("it closed its output without a word".to_owned()),
            Err(
                ChildError::Died { message }
                | ChildError::Protocol { message }
                | ChildError::Limit { message, .. },
            ) => Err(message),
            Err(error) => return Err(error),
        };
        let ready =
            ready.map_err(|why| ChildError::Start { message: format!("a child did not come up: {why}") })?;
        if ready.build_id != build_id() {
            self.kill().await;
            return Err(ChildError::Stranger { ours: build_id().to_owned(), theirs: ready.build_id });
        }
        self.confinement = ready.confinement;
        Ok(())
    }

    /// Its process id, until its end has been seen.
    pub fn pid(&self) -> Option<u32> {
        self.process.id()
    }

    /// What the kernel gave of the confinement asked for.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Gives it this long from now.
    pub fn allow(&mut self, wall: Duration) {
        self.allow_from(Instant::now(), wall);
    }

    /// It has been told to keep to this much memory: what to say when it runs out.
    pub(crate) fn keeps_to(&mut self, memory: u64) {
        self.memory = Some(memory);
    }

    fn allow_from(&mut self, start: Instant, wall: Duration) {
        self.wall = wall;
        self.deadline = start + wall;
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// When the child has ended or the deadline passes, after which it has been killed.
    pub async fn send(&mut self, payload: &[u8]) -> Result<(), ChildError> {
        let Some(input) = &mut self.input else {
            return Err(ChildError::Protocol { message: "its input was closed before".to_owned() });
        };
        match timeout_at(self.deadline, frames::write_async(input, payload)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.explain(error).await),
            Err(_) => Err(self.overdue().await),
        }
    }

    /// Closes its input: there is nothing more to come.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Its next frame of at most `limit` bytes; nothing if it has closed its output and ended well.
    ///
    /// Not cancel-safe: a caller that gives up must drop the child.
    ///
    /// # Errors
    /// When the child ended otherwise, sent what is no frame or too long a one, or the deadline passed, after
    /// which it has been killed.
    pub async fn receive(&mut self, limit: u64) -> Result<Option<Vec<u8>>, ChildError> {
        match timeout_at(self.deadline, frames::read_async(&mut self.output, limit)).await {
            Ok(Ok(Some(payload))) => Ok(Some(payload)),
            Ok(Ok(None)) => self.ended().await.map(|()| None),
            Ok(Err(error)) => Err(self.explain(error).await),
            Err(_) => Err(self.overdue().await),
        }
    }

    /// Closes its input and waits for a good end, ignoring what it may still say.
    ///
    /// # Errors
    /// When it ends otherwise, or not before the deadline.
    pub async fn finish(mut self) -> Result<(), ChildError> {
        self.close_input();
        let mut sink = tokio::io::sink();
        match timeout_at(self.deadline, tokio::io::copy(&mut self.output, &mut sink)).await {
            Ok(_) => self.ended().await,
            Err(_) => Err(self.overdue().await),
        }
    }

    /// Kills it and the programs it started, and waits for its end.
    pub async fn kill(&mut self) {
        self.kill_group();
        // It may have ended by itself; either way it is gone.
        drop(self.process.kill().await);
    }

    /// Waits for its end. Cancel-safe.
    pub(crate) async fn wait(&mut self) {
        // An error means there is nothing to wait for.
        drop(self.process.wait().await);
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    /// The child leads a group of its own, so that a terminal's Ctrl-C is the parent's to handle, and so that what
    /// it started ends with it.
    fn kill_group(&self) {
        // An id is only known until the child's end was collected: until then the kernel keeps it from being reused.
        let pid = self.process.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        if let Some(pid) = pid {
            // It fails when nobody is left.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }

    async fn overdue(&mut self) -> ChildError {
        self.kill().await;
        end::overdue(self.wall)
    }

    /// The pipe has failed or closed: the child's end says why, if it has ended.
    async fn explain(&mut self, error: FrameError) -> ChildError {
        match error {
            FrameError::Io(_) | FrameError::Cut => match self.ended().await {
                Err(reason) => reason,
                Ok(()) => ChildError::Died { message: "it ended before it was done".to_owned() },
            },
            FrameError::TooLong { limit, .. } => {
                self.kill().await;
                end::too_long(limit)
            }
            FrameError::NotAFrame(_) => {
                self.kill().await;
                ChildError::Protocol { message: error.to_string() }
            }
        }
    }

    /// Waits a moment for its end and explains it; a child that lingers is killed.
    async fn ended(&mut self) -> Result<(), ChildError> {
        let status = match timeout(LAST_WORDS, self.process.wait()).await {
            Ok(Ok(status)) => status,
            Ok(Err(error)) => return Err(ChildError::Died { message: error.to_string() }),
            Err(_) => {
                self.kill().await;
                return Err(ChildError::Died { message: "it closed its pipe but did not end".to_owned() });
            }
        };
        // A program it started may hold the pipe open for longer; what has arrived is enough then.
        drop(timeout(LAST_WORDS, &mut self.listener).await);
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        end::explain(status, &tail, self.memory)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill_group();
        self.listener.abort();
    }
}

fn command(
    program: &Path,
    arguments: &[OsString],
    environment: Vec<(OsString, OsString)>,
) -> Result<Command, ChildError> {
    let program =
        std::path::absolute(program).map_err(|error| ChildError::Start { message: error.to_string() })?;
    let mut command = Command::new(program);
    command
        .arg0("formwork")
        .args(arguments)
        .env_clear()
        .envs(environment)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    Ok(command)
}

/// Keeps the end of what the child says on standard error, however much that is.
async fn listen(mut errors: ChildStderr, tail: Arc<Mutex<Tail>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        tail.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
    }
}
