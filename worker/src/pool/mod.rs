//! Workers kept warm, and jobs handed to them fairly.
//!
//! One task keeps each worker: it starts the process, hands it one job at a time, and replaces it after any
//! limit, death or nonsense, and after many jobs. A caller who gives up leaves no trace but a job that still runs
//! to its end. This module does not know how a process is confined (`confine`) nor what a job computes.

mod holdings;
mod keeper;
mod turns;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use schema::digest::Digest;
use schema::kind::Kind;
use schema::limits::Budget;
use schema::processing::{Provided, Request, Step, Template};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::child::{ChildError, Limit, own_executable};
use crate::confine::Confinement;
use crate::python::{Preparation, Python, PythonState};
use turns::Turns;

/// How long a job waits for Python where it is not to wait until it is compiled: it may be there already, and only be
/// found.
const SHORT: Duration = Duration::from_millis(500);

/// How to keep workers.
#[derive(Debug, Clone)]
pub struct PoolConfig {
    /// The program: [`own_executable`].
    pub program: PathBuf,
    /// Its hidden command.
    pub arguments: Vec<OsString>,
    /// How many workers.
    pub workers: usize,
    /// How many jobs may wait, beside those that run.
    pub queue: usize,
    /// The most a job may have; a job's own budget may be smaller. Only the memory is taken from here.
    pub budget: Budget,
    /// Python, if templates may be in it.
    pub python: Option<Python>,
}

impl PoolConfig {
    /// So many workers of this program, with the default budget and a queue of 32 jobs for each.
    pub fn own(workers: usize) -> PoolConfig {
        PoolConfig {
            program: own_executable(),
            arguments: vec!["__worker".into()],
            workers,
            queue: workers.saturating_mul(32),
            budget: Budget::default(),
            python: None,
        }
    }

    /// The same with Python.
    pub fn with_python(self, python: Python) -> PoolConfig {
        PoolConfig { python: Some(python), ..self }
    }
}

/// A template to process, and for whom.
#[derive(Debug, Clone)]
pub struct Job {
    /// The digest of the template's files, if they are a published version: a worker keeps them then.
    pub digest: Option<Digest>,
    /// The template.
    pub template: Template,
    /// What to make of it.
    pub request: Request,
    /// What its references resolved to, so far.
    pub provided: Vec<Provided>,
    /// What it may cost.
    pub budget: Budget,
    /// Who asks; callers share the workers fairly.
    pub caller: String,
}

/// Why a job gave no result. Nobody but its caller is harmed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// Too much is waiting, altogether or of this caller.
    #[error("too many requests are waiting: try again in {} s", retry_after.as_secs())]
    Busy {
        /// When there should be room: whole seconds, at least one.
        retry_after: Duration,
    },
    /// The job needs Python, which is still being made ready.
    #[error("Python is being compiled for this machine: try again in {} s", retry_after.as_secs())]
    Preparing {
        /// When it should be there: whole seconds, at least one.
        retry_after: Duration,
    },
    /// The job needs Python, which cannot be used here.
    #[error("Python templates cannot be processed here: {message}")]
    NoPython {
        /// Why.
        message: String,
    },
    /// It hit a limit.
    #[error("{message}")]
    Limit {
        /// Which.
        what: Limit,
        /// The limit in words, and what to do.
        message: String,
    },
    /// The worker ended while it worked on this.
    #[error("the worker ended: {message}")]
    Died {
        /// What it said last, or how it ended.
        message: String,
    },
    /// What the worker answered made no sense; a defect of ours.
    #[error("the worker answered something unexpected: {message}")]
    Protocol {
        /// What was wrong with it.
        message: String,
    },
    /// No worker can be started here.
    #[error("no worker can be started: {message}")]
    Start {
        /// Why.
        message: String,
    },
    /// The pool is shutting down.
    #[error("the service is stopping")]
    Stopping,
}

impl From<ChildError> for WorkerError {
    fn from(error: ChildError) -> WorkerError {
        match error {
            ChildError::Limit { what, message } => {
                let advice = advice(what).map(|advice| format!(": {advice}")).unwrap_or_default();
                WorkerError::Limit { what, message: format!("{message}{advice}") }
            }
            ChildError::Died { message } => WorkerError::Died { message },
            ChildError::Protocol { message } => WorkerError::Protocol { message },
            ChildError::Start { message } => WorkerError::Start { message },
            stranger @ ChildError::Stranger { .. } => WorkerError::Start { message: stranger.to_string() },
        }
    }
}

/// What the author of a template that was stopped should look for.
const fn advice(what: Limit) -> Option<&'static str> {
    match what {
        Limit::Wall => Some("look for a loop that does not end"),
        Limit::Memory => Some("look for a text or a list that grows with every step"),
        Limit::Stack => Some("look for something that contains itself"),
        Limit::Output | Limit::Input => None,
    }
}

/// Why there is no pool.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// It was to have none.
    #[error("a pool needs at least one worker")]
    NoWorkers,
    /// It was started outside an async runtime.
    #[error("a pool is started inside an async runtime")]
    NoRuntime,
}

/// What the pool is doing and has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Workers there are to be.
    pub workers: usize,
    /// Workers that are up.
    pub ready: usize,
    /// Workers at work.
    pub busy: usize,
    /// Jobs waiting.
    pub queued: usize,
    /// Processes started so far.
    pub started: u64,
    /// Processes killed at a limit or for talking nonsense.
    pub killed: u64,
    /// Processes that ended by themselves.
    pub died: u64,
    /// Processes retired in good order, after many jobs or for holding too much.
    pub retired: u64,
    /// Jobs that got an answer, of any kind.
    pub jobs: u64,
    /// Jobs whose files the worker held already.
    pub warm: u64,
    /// Jobs turned away.
    pub refused: u64,
}

/// Warm workers. Dropping it ends them.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    keepers: Mutex<Vec<JoinHandle<()>>>,
    /// What makes Python ready, once somebody has asked for it.
    preparing: OnceLock<JoinHandle<()>>,
    ready: watch::Receiver<Option<Result<(), WorkerError>>>,
}

#[derive(Debug)]
struct Shared {
    config: PoolConfig,
    state: Mutex<State>,
    ready: watch::Sender<Option<Result<(), WorkerError>>>,
    python: watch::Sender<PythonState>,
}

#[derive(Debug)]
struct State {
    turns: Turns<Waiting>,
    seats: Vec<Seat>,
    stats: Stats,
    confinement: Option<Confinement>,
    /// How long a job takes, as a moving average.
    mean: Duration,
    stopping: bool,
}

/// One worker's place, whichever process sits there.
#[derive(Debug)]
struct Seat {
    assignments: mpsc::UnboundedSender<Assigned>,
    busy: bool,
    pid: Option<u32>,
    /// Whether its worker has Python.
    python: bool,
    holds: HashSet<Digest>,
}

/// A job that waits, and where its result goes.
#[derive(Debug)]
struct Waiting {
    job: Job,
    /// Whether it may ask for Python. If it does although it may not, it gets nothing.
    python: bool,
    answer: oneshot::Sender<Result<Option<Step>, WorkerError>>,
}

type Assigned = Waiting;

impl Pool {
    /// Starts keeping workers; they come up in the background, [`Pool::ready`] waits for them.
    ///
    /// # Errors
    /// When it is to have no workers, or there is no async runtime.
    pub fn start(config: PoolConfig) -> Result<Pool, PoolError> {
        if config.workers == 0 {
            return Err(PoolError::NoWorkers);
        }
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| PoolError::NoRuntime)?;
        let (seats, assignments): (Vec<_>, Vec<_>) = (0..config.workers)
            .map(|_| {
                let (assignments, receiver) = mpsc::unbounded_channel();
                (Seat { assignments, busy: false, pid: None, python: false, holds: HashSet::new() }, receiver)
            })
            .unzip();
        let state = State {
            turns: Turns::new(config.workers, config.queue),
            seats,
            stats: Stats { workers: config.workers, ..Stats::default() },
            confinement: None,
            mean: Duration::from_millis(20),
            stopping: false,
        };
        let (ready, ready_seen) = watch::channel(None);
        let python = watch::Sender::new(PythonState::Idle);
        let shared = Arc::new(Shared { config, state: Mutex::new(state), ready, python });
        let keepers = assignments
            .into_iter()
            .enumerate()
            .map(|(seat, assignments)| runtime.spawn(keeper::keep(Arc::clone(&shared), seat, assignments)))
            .collect();
        let pool =
            Pool { shared, keepers: Mutex::new(keepers), preparing: OnceLock::new(), ready: ready_seen };
        if let Some(python) = &pool.shared.config.python
            && python.preparation == Preparation::AtStart
        {
            pool.prepare(python);
        }
        Ok(pool)
    }

    /// Processes a template, waiting for a worker if need be.
    ///
    /// # Errors
    /// When too much is waiting, the job hits a limit or takes its worker down with it, needs Python and there is none
    /// yet, or the pool stops. A template that merely fails is [`Step::Failed`].
    pub async fn process(&self, job: Job) -> Result<Step, WorkerError> {
        let Some(python) = &self.shared.config.python else {
            return self.queue(job, true).await?.ok_or_else(unexpected);
        };
        if !job.looks_like_python() {
            let again = job.clone();
            match self.queue(job, false).await? {
                Some(step) => return Ok(step),
                // A template it refers to is in Python, or it must be rendered by Jinja2 itself.
                None => {
                    self.python_ready(python).await?;
                    return self.queue(again, true).await?.ok_or_else(unexpected);
                }
            }
        }
        self.python_ready(python).await?;
        self.queue(job, true).await?.ok_or_else(unexpected)
    }

    /// How far Python is; nothing where the pool has none.
    pub fn python(&self) -> Option<PythonState> {
        self.shared.config.python.as_ref().map(|_| self.shared.python.borrow().clone())
    }

    fn prepare(&self, python: &Python) {
        self.preparing.get_or_init(|| {
            let work = crate::python::prepare(
                python.clone(),
                self.shared.config.program.clone(),
                self.shared.python.clone(),
            );
            tokio::spawn(work)
        });
    }

    /// Waits for Python as long as this pool has its jobs wait.
    async fn python_ready(&self, python: &Python) -> Result<(), WorkerError> {
        self.prepare(python);
        let mut state = self.shared.python.subscribe();
        let is_settled =
            |state: &PythonState| matches!(state, PythonState::Ready(_) | PythonState::Failed(_));
        let settled = async { state.wait_for(is_settled).await.map(|state| state.clone()) };
        let settled = match python.preparation {
            Preparation::WhenNeeded => settled.await,
            Preparation::AtStart => match timeout(SHORT, settled).await {
                Ok(settled) => settled,
                Err(_) => {
                    let retry_after = self.shared.python.borrow().retry_after();
                    return Err(WorkerError::Preparing { retry_after });
                }
            },
        };
        match settled.map_err(|_| WorkerError::Stopping)? {
            PythonState::Failed(message) => Err(WorkerError::NoPython { message }),
            _ => Ok(()),
        }
    }

    /// Has a worker do the job; nothing if it needs Python and was not to have it.
    async fn queue(&self, job: Job, python: bool) -> Result<Option<Step>, WorkerError> {
        let (answer, answered) = oneshot::channel();
        {
            let mut state = self.shared.state();
            if state.stopping {
                return Err(WorkerError::Stopping);
            }
            let caller = job.caller.clone();
            if state.turns.push(&caller, Waiting { job, python, answer }).is_err() {
                state.stats.refused += 1;
                return Err(WorkerError::Busy { retry_after: state.retry_after() });
            }
            state.dispatch();
        }
        answered.await.unwrap_or(Err(WorkerError::Stopping))
    }

    /// Waits until every worker has come up once, or one could not.
    ///
    /// # Errors
    /// Why a worker could not be started. The pool goes on trying.
    pub async fn ready(&self) -> Result<(), WorkerError> {
        let mut ready = self.ready.clone();
        let seen = ready.wait_for(Option::is_some).await.map_err(|_| WorkerError::Stopping)?;
        seen.clone().unwrap_or(Ok(()))
    }

    /// What it is doing and has done.
    pub fn stats(&self) -> Stats {
        let state = self.shared.state();
        Stats {
            busy: state.seats.iter().filter(|seat| seat.busy).count(),
            ready: state.seats.iter().filter(|seat| seat.pid.is_some()).count(),
            queued: state.turns.waiting(),
            ..state.stats
        }
    }

    /// What the kernel gave of the confinement of workers.
    pub fn confinement(&self) -> Confinement {
        let unknown = || Confinement::unknown("no worker has come up yet");
        self.shared.state().confinement.clone().unwrap_or_else(unknown)
    }

    /// The process ids of the workers that are up.
    pub fn pids(&self) -> Vec<u32> {
        self.shared.state().seats.iter().filter_map(|seat| seat.pid).collect()
    }

    /// Ends all workers now. Jobs that run or wait, and all to come, get [`WorkerError::Stopping`].
    ///
    /// To let jobs finish, stop asking and wait for the answers first.
    pub fn shutdown(&self) {
        let waiting = {
            let mut state = self.shared.state();
            state.stopping = true;
            for seat in &mut state.seats {
                seat.pid = None;
            }
            state.turns.drain()
        };
        drop(waiting);
        for keeper in self.keepers.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // With the task goes the child, which is killed when it is dropped.
            keeper.abort();
        }
        if let Some(preparing) = self.preparing.get() {
            preparing.abort();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change under the lock is complete before anything that can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Hands waiting jobs to idle workers: one that holds the template, else one that is up.
    fn dispatch(&mut self) {
        while self.seats.iter().any(|seat| !seat.busy) {
            let Some((caller, waiting)) = self.turns.next() else { return };
            if waiting.answer.is_closed() {
                // Its caller gave up while it waited.
                self.turns.done(&caller);
                continue;
            }
            let (digest, python) = (waiting.job.digest, waiting.python);
            let fitness = |seat: &&mut Seat| {
                let holds = digest.is_some_and(|one| seat.holds.contains(&one));
                // Python is in as few workers as will do: first to those that have it, if it is needed; and else to
                // the others, unless one of them knows the template.
                (python && seat.python, holds, seat.python == python, seat.pid.is_some())
            };
            let idle = self.seats.iter_mut().filter(|seat| !seat.busy).max_by_key(fitness);
            let seat = idle.expect("there was an idle seat just above");
            if seat.assignments.send(waiting).is_ok() {
                seat.busy = true;
            } else {
                // Its keeper is gone: the pool is stopping, and the caller learns it from the dropped answer.
                self.turns.done(&caller);
                return;
            }
        }
    }

    /// When a caller turned away should find room: the time to work off what waits, within half a minute.
    fn retry_after(&self) -> Duration {
        let waiting = u32::try_from(self.turns.waiting() + 1).unwrap_or(u32::MAX);
        let workers = u32::try_from(self.seats.len()).unwrap_or(u32::MAX);
        let wait = self.mean.saturating_mul(waiting) / workers;
        Duration::from_secs(wait.as_secs().saturating_add(1).min(30))
    }
}

fn unexpected() -> WorkerError {
    WorkerError::Protocol { message: "it asks for Python where it was given Python".to_owned() }
}

impl Job {
    /// Whether it is likely to need Python: one of its files is in it. What is missed is found by a worker.
    fn looks_like_python(&self) -> bool {
        let provided = self.provided.iter().map(|one| &one.template);
        std::iter::once(&self.template).chain(provided).any(|template| match template.kind {
            Kind::DmPython => true,
            _ if template.jinja2 => true,
            Kind::DmJinja | Kind::DmConfiguration => {
                template.files.iter().any(|(path, _)| path.ends_with(".py"))
            }
            _ => false,
        })
    }
}

/// Processes one job in a worker of its own, and waits for it: for a command that does nothing else.
///
/// A command with several jobs, or one that answers [`Step::Needs`], keeps a [`Pool`] of one.
///
/// # Errors
/// As [`Pool::process`].
pub fn run_once(job: Job, python: Python) -> Result<Step, WorkerError> {
    let start = |message: String| WorkerError::Start { message };
    // A thread of its own, so that it can be called from anywhere, a runtime's thread included.
    let thread = std::thread::Builder::new().name("formwork-once".to_owned());
    let running = thread.spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| start(error.to_string()))?;
        runtime.block_on(async {
            let config = PoolConfig { budget: job.budget, ..PoolConfig::own(1).with_python(python) };
            let pool = Pool::start(config).map_err(|error| start(error.to_string()))?;
            pool.process(job).await
        })
    });
    let running = running.map_err(|error| WorkerError::Start { message: error.to_string() })?;
    running
        .join()
        .unwrap_or_else(|_| Err(WorkerError::Died { message: "the waiting thread panicked".to_owned() }))
}
