//! The task that keeps one worker: starts it, hands it jobs, replaces it.

use std::sync::Arc;
use std::time::Duration;

use schema::processing::Step;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::holdings::{self, Holdings, Plan};
use super::{Assigned, Job, Shared, WorkerError};
use crate::child::{Child, ChildError, Limit, in_words};
use crate::protocol::{self, Answer, Ask, LONGEST_ASK, RESERVE, Run, Unsendable};
use crate::python::PythonState;

/// Jobs after which a worker is replaced, so that nothing small can add up.
const MOST_JOBS: u32 = 10_000;

/// The first wait after a worker could not be started, doubled each time up to the longest.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// A running worker and what its keeper knows of it.
#[derive(Debug)]
struct Worker {
    child: Child,
    holdings: Holdings,
    /// Whether it was given Python to map.
    python: bool,
    jobs: u32,
}

/// How a job ended, for the worker.
enum After {
    /// It can take another.
    Keep,
    /// It is to be replaced in good order.
    Retire,
    /// It was killed, or ended.
    Gone { by_us: bool },
}

/// Keeps the worker of one seat until the pool stops.
pub(super) async fn keep(
    shared: Arc<Shared>,
    seat: usize,
    mut assignments: mpsc::UnboundedReceiver<Assigned>,
) {
    let mut worker: Option<Worker> = None;
    let mut wait = SHORTEST_WAIT;
    loop {
        if worker.is_none() {
            match start(&shared, seat, false).await {
                Ok(started) => {
                    worker = Some(started);
                    wait = SHORTEST_WAIT;
                }
                Err(error) => {
                    tracing::error!(%error, "a worker could not be started; trying again");
                    // Whoever is waiting for this seat is told at once, and may find another.
                    tokio::select! {
                        assigned = assignments.recv() => {
                            let Some(assigned) = assigned else { return };
                            finish(&shared, seat, assigned, Err(error), Duration::ZERO);
                        }
                        () = sleep(wait) => {}
                    }
                    wait = (wait * 2).min(LONGEST_WAIT);
                    continue;
                }
            }
        }
        let Some(running) = &mut worker else { continue };
        tokio::select! {
            // A job that is there already is served before the look at the process, which serving does itself.
            biased;
            assigned = assignments.recv() => {
                let Some(assigned) = assigned else { return };
                serve(&shared, seat, &mut worker, assigned).await;
            }
            () = running.child.wait() => {
                tracing::warn!("an idle worker ended; starting another");
                gone(&shared, seat, &mut worker, false);
                // A worker that cannot stay up must not take a processor to be restarted.
                sleep(SHORTEST_WAIT).await;
            }
        }
    }
}

/// Starts a worker; with Python, if that is wanted and ready.
async fn start(shared: &Shared, seat: usize, python: bool) -> Result<Worker, WorkerError> {
    let config = &shared.config;
    let compiled = match &*shared.python.borrow() {
        PythonState::Ready(path) if python => Some(Arc::clone(path)),
        _ => None,
    };
    let python = compiled.is_some();
    let started =
        Child::start_worker(&config.program, &config.arguments, config.budget.memory, compiled.as_deref())
            .await;
    let mut state = shared.state();
    match started {
        Ok(child) => {
            state.stats.started += 1;
            state.seats[seat].pid = if state.stopping { None } else { child.pid() };
            state.seats[seat].python = python;
            state.confinement = Some(child.confinement().clone());
            if state.seats.iter().all(|seat| seat.pid.is_some()) {
                shared.ready.send_replace(Some(Ok(())));
            }
            Ok(Worker { child, holdings: Holdings::default(), python, jobs: 0 })
        }
        Err(error) => {
            let error = WorkerError::from(error);
            let message = error.to_string();
            let error = match error {
                start @ WorkerError::Start { .. } => start,
                _ => WorkerError::Start { message },
            };
            shared.ready.send_replace(Some(Err(error.clone())));
            Err(error)
        }
    }
}

/// Does one job: on the worker there is, or on a fresh one if that turns out to be dead before it heard the job.
async fn serve(shared: &Shared, seat: usize, worker: &mut Option<Worker>, assigned: Assigned) {
    if worker.as_mut().is_some_and(|worker| worker.child.has_ended()) {
        gone(shared, seat, worker, false);
    }
    let python = assigned.python && matches!(&*shared.python.borrow(), PythonState::Ready(_));
    if python && worker.as_ref().is_some_and(|worker| !worker.python) {
        // Python is mapped before a worker is confined: this one cannot take it up any more.
        shared.state().stats.retired += 1;
        vacate(shared, seat, worker);
    }
    if worker.is_none() {
        match start(shared, seat, python).await {
            Ok(started) => *worker = Some(started),
            Err(error) => return finish(shared, seat, assigned, Err(error), Duration::ZERO),
        }
    }
    let Some(running) = worker.as_mut() else { return };
    let began = Instant::now();
    let Assigned { job, python, answer } = assigned;
    let caller = job.caller.clone();
    let (result, after) = run(shared, running, job, python).await;
    let took = began.elapsed();
    let digests = running.holdings.digests().collect();
    match after {
        After::Keep => shared.state().seats[seat].holds = digests,
        After::Retire => {
            shared.state().stats.retired += 1;
            vacate(shared, seat, worker);
        }
        After::Gone { by_us } => gone(shared, seat, worker, by_us),
    }
    // First the account, then the answer: who has an answer finds it accounted for. A fresh process, if one is
    // needed, is for the next job to wait for.
    free(shared, seat, &caller, took);
    // Its caller may have given up.
    drop(answer.send(result));
}

async fn run(
    shared: &Shared,
    worker: &mut Worker,
    job: Job,
    python: bool,
) -> (Result<Option<Step>, WorkerError>, After) {
    let Job { digest, template, request, provided, mut budget, .. } = job;
    budget.memory = budget.memory.min(shared.config.budget.memory);
    if python && worker.python {
        budget.wall = budget.wall.max(budget.python_wall);
    }
    let templates = std::iter::once(&template).chain(provided.iter().map(|one| &one.template));
    if let Some(bytes) = templates.map(|one| holdings::size(&one.files)).find(|bytes| *bytes > LONGEST_ASK) {
        return (Err(too_much("one version", Some(bytes))), After::Keep);
    }
    let Plan { forget, load, template, provided, release } = worker.holdings.plan(digest, template, provided);
    if load.is_empty() {
        shared.state().stats.warm += 1;
    }
    let run = Ask::Run(Box::new(Run { template, provided, request, budget, python, release }));
    let run = match protocol::encode_within(&run, LONGEST_ASK) {
        Ok(run) => run,
        // The plan is not carried out, so what this worker holds is no longer known.
        Err(Unsendable::TooLong) => return (Err(too_much("the request", None)), After::Retire),
        Err(Unsendable::TooDeep) => return (Err(too_deep("the request")), After::Retire),
    };

    worker.child.allow(budget.wall);
    worker.child.keeps_to(budget.memory);
    worker.jobs += 1;
    match talk(&mut worker.child, forget, load, &run, protocol::longest_answer(&budget)).await {
        Ok(Answer::Step { step, held }) => {
            let after = if worker.jobs >= MOST_JOBS || held > RESERVE { After::Retire } else { After::Keep };
            (Ok(Some(step)), after)
        }
        Ok(Answer::NeedsPython) => (Ok(None), After::Keep),
        Ok(Answer::TooDeep) => (Err(too_deep("the output")), After::Keep),
        Ok(Answer::TooLong) => (Err(too_long(budget.output)), After::Keep),
        Err(ChildError::Limit { what: Limit::Output, .. }) => {
            (Err(too_long(budget.output)), After::Gone { by_us: true })
        }
        Err(error) => {
            let by_us =
                matches!(error, ChildError::Limit { what: Limit::Wall, .. } | ChildError::Protocol { .. });
            (Err(error.into()), After::Gone { by_us })
        }
    }
}

async fn talk(
    child: &mut Child,
    forget: Vec<protocol::Key>,
    load: Vec<(protocol::Key, schema::tree::Files)>,
    run: &[u8],
    longest: u64,
) -> Result<Answer, ChildError> {
    if !forget.is_empty() {
        child.send(&protocol::encode(&Ask::Forget(forget))).await?;
    }
    for (key, files) in load {
        let listing = files.iter().map(|(path, bytes)| (path.to_owned(), bytes.len() as u64)).collect();
        child.send(&protocol::encode(&Ask::Load { key, files: listing })).await?;
        let bytes = files.iter().fold(Vec::new(), |mut all, (_, bytes)| {
            all.extend_from_slice(bytes);
            all
        });
        child.send(&bytes).await?;
    }
    child.send(run).await?;
    let unexpected = |message: String| ChildError::Protocol { message };
    let answer = child.receive(longest).await?;
    let answer = answer.ok_or_else(|| unexpected("it ended without an answer".to_owned()))?;
    match protocol::decode(&answer) {
        Ok(answer) => Ok(answer),
        Err(error) => {
            child.kill().await;
            Err(unexpected(error))
        }
    }
}

fn too_long(limit: u64) -> WorkerError {
    let message =
        format!("stopped at the output limit of {}: make fewer or smaller objects", in_words(limit));
    WorkerError::Limit { what: Limit::Output, message }
}

fn too_deep(what: &str) -> WorkerError {
    let message = format!("{what} nests too deep: look for something that contains itself");
    WorkerError::Limit { what: Limit::Stack, message }
}

fn too_much(what: &str, bytes: Option<u64>) -> WorkerError {
    let size = bytes.map(|bytes| format!(" ({})", in_words(bytes))).unwrap_or_default();
    let message = format!("{what} is larger than the limit of {}{size}", in_words(LONGEST_ASK));
    WorkerError::Limit { what: Limit::Input, message }
}

/// The worker of a seat is no more.
fn gone(shared: &Shared, seat: usize, worker: &mut Option<Worker>, by_us: bool) {
    {
        let mut state = shared.state();
        let count = if by_us { &mut state.stats.killed } else { &mut state.stats.died };
        *count += 1;
    }
    vacate(shared, seat, worker);
}

fn vacate(shared: &Shared, seat: usize, worker: &mut Option<Worker>) {
    *worker = None;
    let mut state = shared.state();
    state.seats[seat].pid = None;
    state.seats[seat].python = false;
    state.seats[seat].holds.clear();
}

fn finish(
    shared: &Shared,
    seat: usize,
    assigned: Assigned,
    result: Result<Option<Step>, WorkerError>,
    took: Duration,
) {
    free(shared, seat, &assigned.job.caller, took);
    // Its caller may have given up.
    drop(assigned.answer.send(result));
}

/// The seat can take another job.
fn free(shared: &Shared, seat: usize, caller: &str, took: Duration) {
    let mut state = shared.state();
    state.stats.jobs += 1;
    state.mean = (state.mean * 7 + took) / 8;
    state.turns.done(caller);
    state.seats[seat].busy = false;
    state.dispatch();
}
