//! The one loop that gives turns: takes jobs from the store as they become due, starts them, gives them back.
//!
//! Jobs are taken in the order in which they became due, so a registry that is asked for all the time gets its turn
//! after everybody who waited longer. Two turns at a time keep processors busy; a fetch that waits for a server that
//! does not answer gives its turn back ([`super::sync::Turn`]), so that a slow server delays nobody but itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use catalog::{JobKind, Milliseconds};
use tokio::sync::{Semaphore, watch};
use tokio::task::{Id, JoinSet};
use tokio::time::{interval, sleep};

use super::sync::{self, Turn};
use super::{Outcome, Registry, Shared, milliseconds, timing};

/// Fetches and scans that keep a processor busy at a time.
const AT_ONCE: usize = 2;

/// Fetches and scans at a time, those that wait for a server among them: each is a process.
const MOST_RUNNING: usize = 16;

/// How long a job is kept from others without a sign of life of this process.
const LEASE: Duration = Duration::from_secs(60);

/// How often the sign is given.
const RENEW: Duration = Duration::from_secs(20);

/// How long to leave a store alone that cannot be written.
const STORE_RETRY: Duration = Duration::from_secs(5);

/// A sync under way.
struct Running {
    registry: Arc<Registry>,
    attempts: u32,
}

/// A sync that ended: its job goes back.
struct Done {
    registry: Arc<Registry>,
    attempts: u32,
    next: Milliseconds,
}

impl Done {
    fn new(shared: &Shared, Running { registry, attempts }: Running, outcome: Outcome) -> Done {
        let attempts = match outcome {
            Outcome::Failed => attempts.saturating_add(1),
            Outcome::Published | Outcome::Unchanged => 0,
        };
        let wait = timing::wait(&registry.config.name, shared.config.poll, attempts);
        Done { registry, attempts, next: milliseconds() + wait.as_millis() as i64 }
    }
}

type Tasks = JoinSet<Option<Outcome>>;

/// Runs until it is told to stop; syncs under way are then abandoned, and nothing of them is published.
pub(super) async fn run(shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = Tasks::new();
    let mut running = HashMap::<Id, Running>::new();
    let mut done = Vec::<Done>::new();
    let mut renewal = interval(RENEW);
    loop {
        let given = match give_back(&shared, &mut done).await {
            Ok(()) => give_turns(&shared, &turns, &mut tasks, &mut running).await,
            Err(error) => Err(error),
        };
        let wait = given.unwrap_or_else(|error| {
            tracing::error!(%error, "the queue of syncs cannot be used; trying again");
            STORE_RETRY
        });
        let renew_now = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            () = shared.wake.notified() => false,
            Some(ended) = tasks.join_next_with_id() => {
                let (id, outcome) = match ended {
                    Ok((id, outcome)) => (id, outcome),
                    // A panic was reported where it happened; to the registry it is a failure like any other.
                    Err(error) => (error.id(), Some(Outcome::Failed)),
                };
                let ended = running.remove(&id);
                done.extend(ended.zip(outcome).map(|(ended, outcome)| Done::new(&shared, ended, outcome)));
                false
            }
            _ = renewal.tick() => true,
            () = sleep(wait) => false,
        };
        if renew_now && !running.is_empty() {
            renew(&shared).await;
        }
    }
}

/// Starts what is due as far as there are turns; how long to wait if nothing else happens.
async fn give_turns(
    shared: &Arc<Shared>,
    turns: &Arc<Semaphore>,
    tasks: &mut Tasks,
    running: &mut HashMap<Id, Running>,
) -> Result<Duration, catalog::WriteError> {
    while let Some((name, cause)) = shared.next_asked() {
        // `false`: it was removed meanwhile.
        let asked = shared.catalog.ask_job(&name, JobKind::Sync, cause, milliseconds()).await;
        asked.inspect_err(|_| shared.ask(&name, cause))?;
    }
    while running.len() < MOST_RUNNING {
        let Ok(turn) = turns.clone().try_acquire_owned() else { break };
        let (now, owner) = (milliseconds(), &shared.owner);
        let job = shared.catalog.take_job(JobKind::Sync, owner, now, now + LEASE.as_millis() as i64).await?;
        let Some(job) = job else {
            drop(turn);
            let next = shared.catalog.next_job(JobKind::Sync, owner).await?;
            let wait = next.map_or(RENEW, |next| Duration::from_millis((next - now).max(1) as u64));
            return Ok(wait.min(RENEW));
        };
        let Some(registry) = shared.registry(&job.registry) else {
            // Detached, or removed between the two.
            shared.catalog.drop_job(&job.registry, JobKind::Sync).await?;
            continue;
        };
        tracing::debug!(registry = %job.registry, cause = job.cause, "looking at it");
        let turn = Turn::new(turns.clone(), turn, shared.clone());
        let task = tasks.spawn(look(shared.clone(), registry.clone(), turn));
        running.insert(task.id(), Running { registry, attempts: job.attempts });
    }
    Ok(RENEW)
}

/// A look that ends early when the registry is removed; `None` then.
async fn look(shared: Arc<Shared>, registry: Arc<Registry>, mut turn: Turn) -> Option<Outcome> {
    let _busy = registry.busy.lock().await;
    let mut gone = registry.gone.subscribe();
    tokio::select! {
        outcome = sync::look(&shared, &registry, &mut turn) => Some(outcome),
        _ = gone.wait_for(|gone| *gone) => None,
    }
}

/// Gives the jobs of ended syncs back, with the time they are due again.
async fn give_back(shared: &Shared, done: &mut Vec<Done>) -> Result<(), catalog::WriteError> {
    while let Some(Done { registry, attempts, next }) = done.last() {
        let name = &registry.config.name;
        let due = shared.catalog.finish_job(name, JobKind::Sync, &shared.owner, *attempts, *next).await?;
        registry.status().next = due.map(|due| due / 1_000);
        done.pop();
    }
    Ok(())
}

async fn renew(shared: &Shared) {
    let until = milliseconds() + LEASE.as_millis() as i64;
    if let Err(error) = shared.catalog.renew_jobs(JobKind::Sync, &shared.owner, until).await {
        tracing::warn!(%error, "leases could not be renewed");
    }
}
