//! The child's side: what it does before anything else, and the worker's loop.
//!
//! Plain synchronous code on the main thread. It is reached before the binary parses arguments or starts
//! anything, so that a worker is ready within milliseconds and has one thread when it confines itself.

use std::collections::BTreeMap;
use std::io::{self, Stdin, Stdout, Write};
use std::process::ExitCode;

use engine::Interpreter;
use schema::limits::Budget;
use schema::processing::{Provided, Request, Step, Template};
use schema::tree::Files;

use crate::build_id;
use crate::confine::{self, Confinement, Meter};
use crate::frames::{self, FrameError};
use crate::protocol::{
    self, Answer, Ask, Greeting, Head, Key, LONGEST_ASK, LONGEST_GREETING, Ready, Run, Unsendable,
};
use crate::python::{Host, Program};

/// The status of a child that refuses to begin.
const REFUSED: u8 = 64;

/// A child that has greeted its parent and is confined.
#[derive(Debug)]
pub struct Entered {
    confinement: Confinement,
    meter: Meter,
    /// The interpreter, or why it cannot be used; nothing where none was to be mapped.
    python: Option<Result<Program, String>>,
    input: Stdin,
    output: Stdout,
}

/// Why a child does not begin.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// It was started by hand.
    #[error("this command is started by formwork itself, not by hand")]
    ByHand,
    /// Its parent is another build.
    #[error("this is build {ours}, but the parent is build {theirs}: restart the parent")]
    Stranger {
        /// This program.
        ours: String,
        /// The parent.
        theirs: String,
    },
    /// The pipe broke.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// Hears the parent's greeting on standard input, confines this process as it asks, and answers.
///
/// The first thing a hidden command does: before any thread, any file, any other output.
///
/// # Errors
/// When it was not started by a parent of the same build. The command should end with the message.
pub fn enter() -> Result<Entered, EnterError> {
    let (input, output) = (io::stdin(), io::stdout());
    let greeting = match frames::read(input.lock(), LONGEST_GREETING) {
        Ok(Some(greeting)) => protocol::decode::<Greeting>(&greeting).map_err(|_| EnterError::ByHand)?,
        Ok(None) | Err(FrameError::NotAFrame(_) | FrameError::Cut) => return Err(EnterError::ByHand),
        Err(error) => return Err(error.into()),
    };
    if greeting.build_id != build_id() {
        return Err(EnterError::Stranger { ours: build_id().to_owned(), theirs: greeting.build_id });
    }
    let meter = Meter::open();
    let descriptors = meter.descriptor().into_iter().collect::<Vec<_>>();
    let (confinement, python) = confine::confine_self(&greeting.confine, &descriptors, || {
        // SAFETY: the parent is this same program, and names a file that it made, or found in a directory only its user
        // can write to, under a name made of all that decides the contents.
        greeting.python.as_deref().map(|path| unsafe { Program::map(path) })
    });
    let ready = Ready { build_id: build_id().to_owned(), confinement: confinement.clone() };
    frames::write(output.lock(), &protocol::encode(&ready))?;
    Ok(Entered { confinement, meter, python, input, output })
}

impl Entered {
    /// What confinement came to.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// The parent's next frame of at most `limit` bytes; nothing once it has closed the pipe.
    ///
    /// # Errors
    /// When what comes is no frame, too long, or the pipe fails.
    pub fn receive(&mut self, limit: u64) -> Result<Option<Vec<u8>>, FrameError> {
        frames::read(self.input.lock(), limit)
    }

    /// Sends the parent a frame.
    ///
    /// # Errors
    /// When the pipe fails.
    pub fn send(&mut self, payload: &[u8]) -> Result<(), FrameError> {
        frames::write(self.output.lock(), payload)
    }
}

/// Serves as a worker until the parent closes the pipe: the binary's hidden command.
pub fn run_worker() -> ExitCode {
    run_worker_with(engine::process)
}

/// What a worker does with a job.
pub trait Work: Fn(&Template, &Request, &[Provided], &Budget, &dyn Interpreter) -> Step {}

impl<F: Fn(&Template, &Request, &[Provided], &Budget, &dyn Interpreter) -> Step> Work for F {}

/// [`run_worker`] with other work than the engine's; for tests and benches.
///
/// A panic in `work` ends the process, on purpose: what it left behind is not trusted with the next job.
pub fn run_worker_with(work: impl Work) -> ExitCode {
    // Shown by ps and top. A process without a name works as well.
    let _ = rustix::thread::set_name(c"formwork-worker");
    match enter().map_err(|error| error.to_string()).and_then(|entered| serve(entered, work)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => refuse(&message),
    }
}

/// Says on standard error why this child ends, for the parent to repeat.
pub fn refuse(message: &str) -> ExitCode {
    // If nobody listens there is nobody to tell.
    drop(writeln!(io::stderr(), "{message}"));
    ExitCode::from(REFUSED)
}

fn serve(mut entered: Entered, work: impl Work) -> Result<(), String> {
    let mut loaded = BTreeMap::new();
    let text = |error: FrameError| error.to_string();
    while let Some(ask) = entered.receive(LONGEST_ASK).map_err(text)? {
        match protocol::decode(&ask)? {
            Ask::Forget(keys) => loaded.retain(|key, _| !keys.contains(key)),
            Ask::Load { key, files } => {
                let bytes =
                    entered.receive(LONGEST_ASK).map_err(text)?.ok_or("files were announced but not sent")?;
                loaded.insert(key, unpack(files, &bytes)?);
            }
            Ask::Run(run) => {
                drop(ask);
                let release = run.release.clone();
                let answer = answer(&entered, &loaded, *run, &work)?;
                entered.send(&answer).map_err(text)?;
                loaded.retain(|key, _| !release.contains(key));
            }
        }
    }
    Ok(())
}

/// Does one job within its budget of memory, and gives the encoded answer.
fn answer(
    entered: &Entered,
    loaded: &BTreeMap<Key, Files>,
    run: Run,
    work: &impl Work,
) -> Result<Vec<u8>, String> {
    let held = entered.meter.held();
    let Run { template, provided, request, budget, python, .. } = run;
    let whole = |head: Head| {
        let files = loaded.get(&head.files).ok_or("a job names files that were not loaded")?.clone();
        Ok::<_, String>(Template {
            name: head.name,
            kind: head.kind,
            entry: head.entry,
            files,
            jinja2: head.jinja2,
        })
    };
    let template = whole(template)?;
    let provided = provided
        .into_iter()
        .map(|one| {
            let template = whole(one.template)?;
            Ok(Provided { asked: one.asked, version: one.version, digest: one.digest, template })
        })
        .collect::<Result<Vec<_>, String>>()?;

    // On top of what the worker holds anyway, so that the budget means the same for the first job and the last.
    let resting = if held == 0 { protocol::RESERVE } else { held };
    confine::allow_data(Some(budget.memory.saturating_add(resting)));
    confine::allow_processor_time(budget.wall);
    let answer = {
        // With it goes its instance, before what the job may hold is what the worker may.
        let host =
            if python { Host::new(entered.python.as_ref(), &request, &budget) } else { Host::absent() };
        let step = work(&template, &request, &provided, &budget, &host);
        if host.was_missed() { Answer::NeedsPython } else { Answer::Step { step, held } }
    };
    let answer = match protocol::encode_within(&answer, protocol::longest_answer(&budget)) {
        Ok(encoded) => encoded,
        Err(Unsendable::TooLong) => protocol::encode(&Answer::TooLong),
        Err(Unsendable::TooDeep) => protocol::encode(&Answer::TooDeep),
    };
    confine::allow_data(None);
    Ok(answer)
}

fn unpack(files: Vec<(String, u64)>, bytes: &[u8]) -> Result<Files, String> {
    let mut rest = bytes;
    let mut unpacked = Vec::with_capacity(files.len());
    for (path, length) in files {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (content, behind) = rest.split_at_checked(length).ok_or("files are longer than what was sent")?;
        unpacked.push((path, content));
        rest = behind;
    }
    if rest.is_empty() {
        Ok(unpacked.into_iter().collect())
    } else {
        Err("files are shorter than what was sent".to_owned())
    }
}
