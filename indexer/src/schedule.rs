//! When registries are looked at: at the start, then by the clock, or when somebody asks.
//!
//! One task a registry; few of them fetch and scan at a time, in the order they ask, so that a large registry
//! does not keep the others waiting for more than its own turn. A failure is recorded beside what is published,
//! which stays, and tried again after a while that grows.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use catalog::{Catalog, SyncFailure, Viewer};
use schema::{Digest, RegistryName};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::directory::DirectoryTree;
use crate::publish;
use crate::scan::parent::{Scan, ScanConfig, scan};
use crate::scan::protocol::Job;
use crate::source::Source;

/// Fetches and scans at a time.
const AT_ONCE: usize = 2;

/// How often a directory is looked at for changes: by names, sizes and times alone.
const DIRECTORY_POLL: Duration = Duration::from_secs(1);

/// The first wait after a failure; each further one is twice as long, up to the poll interval.
const FIRST_RETRY: Duration = Duration::from_secs(5);

/// A registry to keep up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryConfig {
    /// Its name.
    pub name: RegistryName,
    /// Where it comes from.
    pub source: Source,
    /// The branch to read; the default one if not given.
    pub branch: Option<String>,
}

/// How to index.
#[derive(Debug, Clone)]
pub struct IndexerConfig {
    /// The program that scan children run.
    pub program: PathBuf,
    /// The hidden command of it.
    pub arguments: Vec<OsString>,
    /// Where bare mirrors are kept.
    pub mirrors: PathBuf,
    /// Time between two looks at a Git source.
    pub poll: Duration,
    /// Memory one fetch and scan may take, in bytes.
    pub memory: u64,
    /// Time one fetch and scan may take.
    pub wall: Duration,
}

/// What a registry's task is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// In line for its turn.
    Waiting,
    /// Fetching and scanning; so many versions have come in.
    Scanning {
        /// Versions so far.
        versions: usize,
    },
    /// Putting what was found in the catalogue.
    Publishing,
    /// Up to date as of the last look.
    Ready,
    /// The last look failed; what was published stays.
    Failed {
        /// Why, in one sentence.
        message: String,
    },
}

/// How a registry stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryStatus {
    /// Which.
    pub name: RegistryName,
    /// What its task is doing.
    pub state: State,
    /// When it was last found up to date or brought up to date: seconds since 1970, UTC.
    pub last_success: Option<i64>,
    /// When it is looked at next.
    pub next: Option<i64>,
}

/// Why a registry could not be brought up to date.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SyncError {
    message: String,
}

impl SyncError {
    pub(crate) fn new(message: impl Into<String>) -> SyncError {
        SyncError { message: message.into() }
    }
}

impl From<worker::ChildError> for SyncError {
    fn from(error: worker::ChildError) -> SyncError {
        SyncError::new(error.to_string())
    }
}

impl From<catalog::WriteError> for SyncError {
    fn from(error: catalog::WriteError) -> SyncError {
        SyncError::new(error.to_string())
    }
}

/// Keeps registries up to date until it is shut down.
#[derive(Debug)]
pub struct Indexer {
    tasks: Mutex<Vec<JoinHandle<()>>>,
    stop: watch::Sender<bool>,
    registries: BTreeMap<RegistryName, Arc<Registry>>,
}

#[derive(Debug)]
struct Registry {
    config: RegistryConfig,
    status: Mutex<RegistryStatus>,
    asked: Notify,
}

impl Indexer {
    /// Starts a task for each registry; a registry of the catalogue that is not among them is removed from it.
    ///
    /// # Errors
    /// When the catalogue does not take a registry, or there is no place for mirrors.
    pub async fn start(
        catalog: Catalog,
        registries: Vec<RegistryConfig>,
        config: IndexerConfig,
    ) -> Result<Indexer, SyncError> {
        std::fs::create_dir_all(&config.mirrors).map_err(|error| {
            SyncError::new(format!("{} cannot be made: {error}", config.mirrors.display()))
        })?;
        let (stop, stopped) = watch::channel(false);
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        let config = Arc::new(config);
        for other in catalog.snapshot().visible(&Viewer::Operator) {
            if !registries.iter().any(|registry| registry.name == other.name) {
                tracing::warn!(registry = %other.name, "is not among the registries any more, and is removed");
                catalog.remove_registry(&other.name, now()).await?;
            }
        }
        let mut indexer = Indexer { tasks: Mutex::default(), stop, registries: BTreeMap::new() };
        for registry in registries {
            catalog.add_registry(&registry.name, &registry.source.to_string(), now()).await?;
            let status = RegistryStatus {
                name: registry.name.clone(),
                state: State::Waiting,
                last_success: None,
                next: None,
            };
            let registry =
                Arc::new(Registry { config: registry, status: Mutex::new(status), asked: Notify::new() });
            indexer.registries.insert(registry.config.name.clone(), registry.clone());
            let task =
                Task { registry, catalog: catalog.clone(), config: config.clone(), turns: turns.clone() };
            let handle = tokio::spawn(task.run(stopped.clone()));
            indexer.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
        }
        Ok(indexer)
    }

    /// Asks for a registry to be looked at now; false if it is none of ours.
    pub fn sync_now(&self, name: &RegistryName) -> bool {
        let registry = self.registries.get(name);
        registry.inspect(|registry| registry.asked.notify_one()).is_some()
    }

    /// How every registry stands, by name.
    pub fn status(&self) -> Vec<RegistryStatus> {
        self.registries.values().map(|registry| registry.status().clone()).collect()
    }

    /// Whether every registry has been looked at once, well or not.
    pub fn settled(&self) -> bool {
        self.registries.values().all(|registry| {
            let status = registry.status();
            status.last_success.is_some() || matches!(status.state, State::Failed { .. })
        })
    }

    /// Ends every task; a scan under way is killed, and nothing of it is published.
    pub async fn shutdown(&self) {
        // It fails when no task is left to hear it.
        let _ = self.stop.send(true);
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            // A task that panicked has said so already.
            drop(task.await);
        }
    }
}

impl Registry {
    fn status(&self) -> std::sync::MutexGuard<'_, RegistryStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Task {
    registry: Arc<Registry>,
    catalog: Catalog,
    config: Arc<IndexerConfig>,
    turns: Arc<Semaphore>,
}

impl Task {
    async fn run(self, mut stop: watch::Receiver<bool>) {
        tokio::select! {
            () = self.keep_up_to_date() => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }

    async fn keep_up_to_date(&self) {
        let mut failures = 0u32;
        loop {
            let fingerprint = self.fingerprint().await;
            match self.sync().await {
                Ok(()) => failures = 0,
                Err(error) => {
                    failures += 1;
                    self.failed(error).await;
                }
            }
            let wait = match failures {
                0 => self.config.poll,
                failures => {
                    (FIRST_RETRY * 2u32.saturating_pow(failures - 1)).min(self.config.poll.max(FIRST_RETRY))
                }
            };
            self.registry.status().next = Some(now() + wait.as_secs() as i64);
            tokio::select! {
                () = sleep(wait) => {}
                () = self.registry.asked.notified() => {}
                () = self.changed(fingerprint) => {}
            }
        }
    }

    /// A number that changes with a directory source; none for Git.
    async fn fingerprint(&self) -> Option<u64> {
        let Source::Directory(path) = &self.registry.config.source else { return None };
        let tree = DirectoryTree::new(path);
        tokio::task::spawn_blocking(move || tree.fingerprint()).await.ok()
    }

    /// Ends when a directory source has changed and then stood still for a moment: half a save is not published.
    async fn changed(&self, before: Option<u64>) {
        if before.is_none() {
            return std::future::pending().await;
        }
        let mut last = before;
        loop {
            sleep(DIRECTORY_POLL / 2).await;
            let current = self.fingerprint().await;
            if current != before && current == last {
                return;
            }
            last = current;
        }
    }

    async fn sync(&self) -> Result<(), SyncError> {
        let config = &self.registry.config;
        let name = &config.name;
        self.state(State::Waiting);
        let _turn = self.turns.acquire().await.map_err(|_| SyncError::new("the server is stopping"))?;
        self.state(State::Scanning { versions: 0 });
        let started = std::time::Instant::now();
        let snapshot = self.catalog.snapshot();
        let before = snapshot.registry(&Viewer::Operator, name);
        let published = before
            .filter(|registry| publish::is_current(registry))
            .and_then(|registry| registry.commit.clone());
        let job = Job {
            source: config.source.clone(),
            branch: config.branch.clone(),
            mirror: mirror(&self.config.mirrors, name),
            known: publish::known(before.map(|registry| &**registry)),
            published,
        };
        std::fs::create_dir_all(&job.mirror)
            .map_err(|error| SyncError::new(format!("{} cannot be made: {error}", job.mirror.display())))?;
        let scan_config = ScanConfig {
            program: self.config.program.clone(),
            arguments: self.config.arguments.clone(),
            memory: self.config.memory,
            wall: self.config.wall,
        };
        let found =
            scan(&scan_config, &self.catalog, &job, |versions| self.state(State::Scanning { versions }))
                .await?;
        match found {
            Scan::Unchanged => tracing::debug!(registry = %name, "nothing changed"),
            Scan::Found(tree) => {
                self.state(State::Publishing);
                let publication =
                    publish::publication(config, before.map(|registry| &**registry), *tree, now())?;
                let versions = publication.versions.len();
                let published = self.catalog.publish(publication).await?;
                let milliseconds = started.elapsed().as_millis() as u64;
                tracing::info!(registry = %name, versions, generation = published.generation, milliseconds, "published");
            }
        }
        let mut status = self.registry.status();
        status.state = State::Ready;
        status.last_success = Some(now());
        Ok(())
    }

    async fn failed(&self, error: SyncError) {
        let name = &self.registry.config.name;
        tracing::warn!(registry = %name, %error, "could not be brought up to date; what was published stays");
        let failure = SyncFailure { message: error.to_string(), hint: None, at: now() };
        if let Err(error) = self.catalog.record_failure(name, failure).await {
            tracing::error!(registry = %name, %error, "the failure could not be recorded");
        }
        self.state(State::Failed { message: error.to_string() });
    }

    fn state(&self, state: State) {
        self.registry.status().state = state;
    }
}

/// Where a registry's mirror is: by digest of its name, which may hold what file systems do not tell apart.
fn mirror(mirrors: &Path, name: &RegistryName) -> PathBuf {
    mirrors.join(format!("{}.git", &Digest::of(name.canonical().as_bytes()).hex()[..32]))
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}
