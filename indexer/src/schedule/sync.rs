//! One look at one registry: fetch, scan, publish.

use std::sync::Arc;
use std::time::Instant;

use catalog::{SyncFailure, Viewer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Outcome, Registry, Shared, State, SyncError, mirror, now};
use crate::connection::FetchLimits;
use crate::directory::DirectoryTree;
use crate::publish;
use crate::scan::parent::{Scan, ScanConfig, scan};
use crate::scan::protocol::Job;
use crate::source::Source;

/// The right to keep a processor busy. Who waits for a stranger's server gives it back meanwhile.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
    shared: Arc<Shared>,
}

impl Turn {
    pub(super) fn new(turns: Arc<Semaphore>, held: OwnedSemaphorePermit, shared: Arc<Shared>) -> Turn {
        Turn { turns, held: Some(held), shared }
    }

    /// Gives it back: somebody else may go on.
    pub(crate) fn give_back(&mut self) {
        if self.held.take().is_some() {
            self.shared.wake.notify_one();
        }
    }

    /// Takes it again, in line with those who wait as well.
    pub(crate) async fn take_again(&mut self) -> Result<(), SyncError> {
        if self.held.is_none() {
            let taken = self.turns.clone().acquire_owned().await;
            self.held = Some(taken.map_err(|_| SyncError::new("the server is stopping"))?);
        }
        Ok(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Looks at a registry and says how it went; a failure is recorded beside what is published, which stays.
pub(super) async fn look(shared: &Shared, registry: &Registry, turn: &mut Turn) -> Outcome {
    let started = Instant::now();
    let outcome = match sync(shared, registry, turn).await {
        Ok(outcome) => {
            let mut status = registry.status();
            status.state = State::Ready;
            status.last_success = Some(now());
            outcome
        }
        Err(error) => {
            failed(shared, registry, error).await;
            Outcome::Failed
        }
    };
    shared.ended.add(outcome, started.elapsed());
    outcome
}

async fn sync(shared: &Shared, registry: &Registry, turn: &mut Turn) -> Result<Outcome, SyncError> {
    let config = &registry.config;
    let name = &config.name;
    registry.state(State::Scanning { versions: 0 });
    let started = Instant::now();
    let snapshot = shared.catalog.snapshot();
    let before = snapshot.registry(&Viewer::Operator, name);
    let current = before.filter(|before| registry.is_current(before));
    let fingerprint = fingerprint(&config.source).await;
    if fingerprint.is_some() && registry.same_as_scanned(fingerprint) && before.is_some() {
        tracing::debug!(registry = %name, "nothing changed");
        return Ok(Outcome::Unchanged);
    }
    let (erased, closed) = publish::erased(before.map(|registry| &**registry));
    let limits = FetchLimits::new(shared.config.fetch_bytes, shared.config.wall);
    let connection = config.connection.ready(limits).map_err(|error| SyncError::new(error.to_string()))?;
    let job = Job {
        source: config.source.clone(),
        revision: config.revision.clone(),
        connection,
        mirror: mirror(&shared.config.mirrors, name),
        published: current.and_then(|registry| registry.commit.clone()),
        before: before.and_then(|registry| registry.commit.clone()),
        erased,
        closed,
    };
    std::fs::create_dir_all(&job.mirror)
        .map_err(|error| SyncError::new(format!("{} cannot be made: {error}", job.mirror.display())))?;
    let count = |versions| registry.state(State::Scanning { versions });
    let before = before.map(|registry| &**registry);
    let found = scan(&shared.scan_config(), &shared.catalog, job, before, turn, count).await?;
    let outcome = match found {
        Scan::Unchanged => {
            tracing::debug!(registry = %name, "nothing changed");
            Outcome::Unchanged
        }
        Scan::Found(tree) => {
            registry.state(State::Publishing);
            let publication = publish::publication(config, before, *tree, now())?;
            let (versions, commit) = (publication.versions.len(), publication.commit.clone());
            let generation = snapshot.generation;
            let published = shared.catalog.publish(publication).await?;
            let milliseconds = started.elapsed().as_millis() as u64;
            tracing::info!(registry = %name, versions, generation = published.generation, milliseconds, "published");
            registry.scanned_at(commit);
            if published.generation == generation { Outcome::Unchanged } else { Outcome::Published }
        }
    };
    // Of before the scan: what was saved meanwhile is looked at again.
    registry.scanned(fingerprint);
    Ok(outcome)
}

impl Shared {
    /// How children are started.
    pub(super) fn scan_config(&self) -> ScanConfig {
        ScanConfig {
            program: self.config.program.clone(),
            arguments: self.config.arguments.clone(),
            memory: self.config.memory,
            wall: self.config.wall,
            // Completing a pack that builds on what is there makes it larger than what was received.
            file_size: self.config.fetch_bytes.saturating_mul(2),
        }
    }
}

/// A number that changes with a directory source; none for Git.
pub(super) async fn fingerprint(source: &Source) -> Option<u64> {
    let Source::Directory(path) = source else { return None };
    let tree = DirectoryTree::new(path);
    tokio::task::spawn_blocking(move || tree.fingerprint()).await.ok()
}

async fn failed(shared: &Shared, registry: &Registry, error: SyncError) {
    let name = &registry.config.name;
    tracing::warn!(registry = %name, %error, "could not be brought up to date; what was published stays");
    registry.scanned(None);
    let failure = SyncFailure { message: error.to_string(), hint: None, at: now() };
    if let Err(error) = shared.catalog.record_failure(name, failure).await {
        tracing::error!(registry = %name, %error, "the failure could not be recorded");
    }
    registry.state(State::Failed { message: error.to_string() });
}
