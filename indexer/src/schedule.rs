//! When registries are looked at: at the start, then by the clock, or when somebody asks or a directory changes.
//!
//! Everything there is to do is a job in the store, at most one for each registry ([`catalog::JobKind::Sync`]). One
//! loop takes jobs as they become due and gives turns ([`dispatch`]); a turn is one look ([`sync`]); [`timing`] says
//! when the next one is due; directories are watched besides (`watch`). [`Indexer`] owns all tasks: what it does not
//! know does not run.
//!
//! A registry that nobody names any more is *detached*: served as it was, and not brought up to date.

mod dispatch;
mod hosted;
mod status;
mod stored;
mod sync;
mod timing;

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use catalog::{Catalog, JobKind, Milliseconds, Origin, RegistrySnapshot, Viewer, Visibility};
use schema::{Digest, RegistryName};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::connection::Connection;
use crate::publish;
use crate::source::{Revision, Source, SourceError};
use crate::watch::watch_directory;
pub use hosted::{StoreError, Stored};
pub use status::{Outcome, RegistryStatus, State, SyncStatistics};
pub(crate) use sync::Turn;

/// A registry to keep up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryConfig {
    /// Its name.
    pub name: RegistryName,
    /// Where it comes from.
    pub source: Source,
    /// The branch or tag to read; for Git sources.
    pub revision: Revision,
    /// How its server is reached; for Git sources.
    pub connection: Connection,
    /// Who may see it; `None` leaves it as it was, and a new registry is public.
    pub visibility: Option<Visibility>,
}

impl RegistryConfig {
    /// A registry of that name and source, with nothing special about it.
    pub fn new(name: RegistryName, source: Source) -> RegistryConfig {
        let (revision, connection) = (Revision::Default, Connection::default());
        RegistryConfig { name, source, revision, connection, visibility: None }
    }
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
    /// Bytes one fetch may receive.
    pub fetch_bytes: u64,
    /// How registries are reached that somebody adds over the API.
    pub admitted: Connection,
    /// Whether a registry of the settings that they do not name any more is removed with everything published from
    /// it; otherwise it is detached.
    pub remove_unlisted: bool,
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
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    dispatcher: Mutex<Option<JoinHandle<()>>>,
    /// Held while a registry is added or removed: one after the other.
    changing: tokio::sync::Mutex<()>,
}

/// What the loop, the syncs and the watchers share.
#[derive(Debug)]
struct Shared {
    catalog: Catalog,
    config: IndexerConfig,
    /// Tells this process from another one that had the store before.
    owner: String,
    registries: RwLock<BTreeMap<RegistryName, Arc<Registry>>>,
    detached: RwLock<BTreeMap<RegistryName, RegistryStatus>>,
    /// Asked for and not in the store yet: each registry once, with the last cause.
    asked: Mutex<VecDeque<(RegistryName, &'static str)>>,
    /// Something may be due, or a turn be free.
    wake: Notify,
    ended: status::Ended,
}

/// A registry that is kept up to date.
#[derive(Debug)]
struct Registry {
    config: RegistryConfig,
    status: Mutex<RegistryStatus>,
    /// Since when it has been waiting for its turn, if it has.
    waiting_since: Mutex<Option<Milliseconds>>,
    /// The fingerprint of a directory that was scanned.
    fingerprint: Mutex<Option<u64>>,
    /// The commit of which all was scanned by this code.
    current: Mutex<Option<String>>,
    /// Set when it is removed: whatever is done for it ends.
    gone: watch::Sender<bool>,
    /// Held by its sync.
    busy: tokio::sync::Mutex<()>,
}

impl Indexer {
    /// Starts keeping registries up to date: those of the settings, and those the store remembers as added while a
    /// server ran. What the settings named once and do not name any more is detached, or removed if the
    /// configuration says so.
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
        let remove_unlisted = config.remove_unlisted;
        let shared = Arc::new(Shared {
            catalog,
            config,
            owner: format!("{}-{}", std::process::id(), milliseconds()),
            registries: RwLock::default(),
            detached: RwLock::default(),
            asked: Mutex::default(),
            wake: Notify::new(),
            ended: status::Ended::default(),
        });
        // Whoever opened the catalogue holds the data directory's lock: every other owner is dead.
        let taken_over = shared.catalog.release_jobs(JobKind::Sync, &shared.owner).await?;
        if taken_over > 0 {
            tracing::info!(jobs = taken_over, "syncs that a server left behind are taken up");
        }
        let remembered = shared.catalog.origins().await?;
        for registry in registries {
            let source = registry.source.to_string();
            let (name, visibility) = (registry.name.clone(), registry.visibility);
            let origin = Origin::Settings;
            shared.catalog.add_registry_from(&name, &source, visibility, origin, None, now()).await?;
            shared.keep(registry, "start");
        }
        for other in remembered {
            if shared.registry(&other.name).is_some() {
                continue;
            }
            let config = match other.origin {
                // There is nothing to look at.
                Origin::Hosted => continue,
                Origin::Settings => None,
                Origin::Admin | Origin::Discovered => stored::read(&other, &shared.config.admitted),
            };
            match config {
                Some(config) => shared.keep(config, "start"),
                None if remove_unlisted && other.origin == Origin::Settings => {
                    tracing::warn!(registry = %other.name, "is not among the registries any more, and is removed");
                    shared.catalog.remove_registry(&other.name, now()).await?;
                    shared.drop_mirror(&other.name).await;
                }
                None => {
                    tracing::warn!(registry = %other.name, "is not among the registries any more: served as it was, and not brought up to date");
                    shared.detach(&other.name).await?;
                }
            }
        }
        let dispatcher = tokio::spawn(dispatch::run(shared.clone(), stopped));
        Ok(Indexer {
            shared,
            stop,
            dispatcher: Mutex::new(Some(dispatcher)),
            changing: tokio::sync::Mutex::default(),
        })
    }

    /// Judges a registry that somebody wants to add over the API: https or ssh, no credentials in the URL, no address
    /// that is not public unless the operator allows it; reached as the operator says for all such registries. What
    /// comes back is for [`Indexer::add`].
    ///
    /// # Errors
    /// With the reason, for who asked.
    pub fn admit(
        &self,
        name: RegistryName,
        source: &str,
        revision: Revision,
    ) -> Result<RegistryConfig, SourceError> {
        let connection = self.shared.config.admitted.clone();
        let source = Source::parse_for_admin(source, connection.addresses)?;
        Ok(RegistryConfig { name, source, revision, connection, visibility: None })
    }

    /// Adds a registry while the server runs, as its administrator asks, or changes where one comes from. It is
    /// looked at as soon as there is a turn, and again after every restart.
    ///
    /// # Errors
    /// When the catalogue does not take it.
    pub async fn add(&self, registry: RegistryConfig) -> Result<(), SyncError> {
        self.add_from(registry, Origin::Admin).await
    }

    /// [`Indexer::add`], saying who asked for it.
    ///
    /// # Errors
    /// When the catalogue does not take it.
    pub async fn add_from(&self, registry: RegistryConfig, origin: Origin) -> Result<(), SyncError> {
        let _changing = self.changing.lock().await;
        self.shared.end(&registry.name).await;
        let config = (origin != Origin::Settings).then(|| stored::write(&registry));
        let source = registry.source.to_string();
        let (name, visibility) = (&registry.name, registry.visibility);
        self.shared.catalog.add_registry_from(name, &source, visibility, origin, config, now()).await?;
        self.shared.keep(registry, "added");
        Ok(())
    }

    /// Removes a registry with everything that was published from it, and its mirror; a sync of it that is under way
    /// ends first. `false` if there is none of that name.
    ///
    /// # Errors
    /// When the catalogue does not let go of it.
    pub async fn remove(&self, name: &RegistryName) -> Result<bool, SyncError> {
        let _changing = self.changing.lock().await;
        self.shared.end(name).await;
        let removed = self.shared.catalog.remove_registry(name, now()).await?;
        self.shared.drop_mirror(name).await;
        Ok(removed)
    }

    /// Stops bringing a registry up to date; what was published from it stays served. `false` if it was not kept.
    ///
    /// # Errors
    /// When the catalogue cannot be written.
    pub async fn detach(&self, name: &RegistryName) -> Result<bool, SyncError> {
        let _changing = self.changing.lock().await;
        let kept = self.shared.end(name).await;
        if kept {
            self.shared.detach(name).await?;
        }
        Ok(kept)
    }

    /// Asks for a registry to be looked at as soon as there is a turn; false if it is none that is kept up to date.
    /// However often it is asked for, it is looked at once, and once more if it was asked for while that went on.
    pub fn sync_now(&self, name: &RegistryName) -> bool {
        self.sync_because(name, "asked")
    }

    /// [`Indexer::sync_now`], with the cause for the log.
    pub fn sync_because(&self, name: &RegistryName, cause: &'static str) -> bool {
        let known = self.shared.registry(name);
        known.inspect(|registry| self.shared.ask_for(registry, cause)).is_some()
    }

    /// How every registry stands, by name.
    pub fn status(&self) -> Vec<RegistryStatus> {
        let mut all = self.shared.detached().clone();
        let kept = self.shared.registries();
        all.extend(kept.values().map(|registry| (registry.config.name.clone(), registry.status().clone())));
        all.into_values().collect()
    }

    /// Figures of the queue. What has ended is told once.
    pub fn statistics(&self) -> SyncStatistics {
        let now = milliseconds();
        let registries = self.shared.registries();
        let waiting = registries.values().filter_map(|registry| registry.waiting(now)).collect::<Vec<_>>();
        let running = registries
            .values()
            .filter(|registry| matches!(registry.status().state, State::Scanning { .. } | State::Publishing));
        SyncStatistics {
            queued: waiting.len(),
            running: running.count(),
            lag: waiting.into_iter().max().unwrap_or_default(),
            ended: self.shared.ended.take(),
        }
    }

    /// Whether every registry has been looked at once, well or not.
    pub fn settled(&self) -> bool {
        self.shared.registries().values().all(|registry| {
            let status = registry.status();
            status.last_success.is_some() || matches!(status.state, State::Failed { .. })
        })
    }

    /// Ends every task; a scan under way is killed, and nothing of it is published.
    pub async fn shutdown(&self) {
        // It fails when no task is left to hear it.
        let _ = self.stop.send(true);
        let dispatcher = self.dispatcher.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(dispatcher) = dispatcher {
            // A task that panicked has said so already.
            drop(dispatcher.await);
        }
        for registry in std::mem::take(&mut *self.shared.registries_mut()).into_values() {
            registry.gone.send_replace(true);
        }
    }
}

impl Shared {
    fn registries(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<RegistryName, Arc<Registry>>> {
        self.registries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn registries_mut(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<RegistryName, Arc<Registry>>> {
        self.registries.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn detached(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<RegistryName, RegistryStatus>> {
        self.detached.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn registry(&self, name: &RegistryName) -> Option<Arc<Registry>> {
        self.registries().get(name).cloned()
    }

    /// Keeps a registry up to date from now on.
    fn keep(self: &Arc<Self>, config: RegistryConfig, cause: &'static str) {
        let registry = Arc::new(Registry::new(config));
        self.detached.write().unwrap_or_else(PoisonError::into_inner).remove(&registry.config.name);
        self.registries_mut().insert(registry.config.name.clone(), registry.clone());
        if let Source::Directory(path) = &registry.config.source {
            let (shared, of, gone) = (self.clone(), registry.clone(), registry.gone.subscribe());
            tokio::spawn(watch_directory(path.clone(), gone, move || shared.ask_for(&of, "changed")));
        }
        self.ask_for(&registry, cause);
    }

    /// Ends everything that is done for a registry; whether there was one.
    async fn end(&self, name: &RegistryName) -> bool {
        let Some(registry) = self.registries_mut().remove(name) else {
            self.detached.write().unwrap_or_else(PoisonError::into_inner).remove(name);
            return false;
        };
        registry.gone.send_replace(true);
        // Its sync, if there is one, has heard it and ends.
        drop(registry.busy.lock().await);
        true
    }

    /// Shows a registry of the catalogue as one that is not brought up to date.
    async fn detach(&self, name: &RegistryName) -> Result<(), SyncError> {
        self.catalog.drop_job(name, JobKind::Sync).await?;
        let snapshot = self.catalog.snapshot();
        let registry = snapshot.registry(&Viewer::Operator, name);
        let status = RegistryStatus {
            name: name.clone(),
            state: State::Detached,
            last_success: registry.and_then(|registry| registry.indexed_at),
            next: None,
        };
        self.detached.write().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), status);
        Ok(())
    }

    fn ask_for(&self, registry: &Registry, cause: &'static str) {
        registry.waits();
        registry.shows_that_it_waits();
        self.ask(&registry.config.name, cause);
        self.wake.notify_one();
    }

    fn ask(&self, name: &RegistryName, cause: &'static str) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        match asked.iter_mut().find(|(other, _)| other == name) {
            Some(known) => known.1 = cause,
            None => asked.push_back((name.clone(), cause)),
        }
    }

    fn next_asked(&self) -> Option<(RegistryName, &'static str)> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// A mirror is a cache: failing to remove one is not worth failing for.
    async fn drop_mirror(&self, name: &RegistryName) {
        let path = mirror(&self.config.mirrors, name);
        let removed = {
            let path = path.clone();
            tokio::task::spawn_blocking(move || std::fs::remove_dir_all(path)).await
        };
        match removed {
            Ok(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(registry = %name, path = %path.display(), %error, "its mirror could not be removed");
            }
            _ => {}
        }
    }
}

impl Registry {
    fn new(config: RegistryConfig) -> Registry {
        let status = RegistryStatus {
            name: config.name.clone(),
            state: State::Waiting,
            last_success: None,
            next: None,
        };
        Registry {
            config,
            status: Mutex::new(status),
            waiting_since: Mutex::default(),
            fingerprint: Mutex::default(),
            current: Mutex::default(),
            gone: watch::channel(false).0,
            busy: tokio::sync::Mutex::default(),
        }
    }

    fn status(&self) -> MutexGuard<'_, RegistryStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self, state: State) {
        if !matches!(state, State::Waiting) {
            *self.waiting_since.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        self.status().state = state;
    }

    /// It is in line from now on, if it was not before.
    fn waits(&self) {
        self.waiting_since.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(milliseconds());
    }

    /// Whoever asked sees that it is not done yet.
    fn shows_that_it_waits(&self) {
        let mut status = self.status();
        if matches!(status.state, State::Ready | State::Failed { .. }) {
            status.state = State::Waiting;
        }
    }

    /// How long it has waited for its turn behind the time it was due, if it does.
    fn waiting(&self, now: Milliseconds) -> Option<Duration> {
        let status = self.status().clone();
        if matches!(status.state, State::Scanning { .. } | State::Publishing) {
            return None;
        }
        let asked = *self.waiting_since.lock().unwrap_or_else(PoisonError::into_inner);
        let due = status.next.map(|next| next * 1_000).filter(|due| *due <= now);
        let since = asked.into_iter().chain(due).min()?;
        Some(Duration::from_millis((now - since).max(0) as u64))
    }

    /// Whether all that is published was scanned by this code. Asked of every version once, and then remembered.
    fn is_current(&self, published: &RegistrySnapshot) -> bool {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if published.commit.is_none() || *current != published.commit {
            *current = published.commit.clone().filter(|_| publish::is_current(published));
        }
        current.is_some()
    }

    /// What is published now was scanned by this code, at this commit.
    fn scanned_at(&self, commit: Option<String>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = commit;
    }

    /// Whether a directory is as it was when it was last scanned.
    fn same_as_scanned(&self, fingerprint: Option<u64>) -> bool {
        *self.fingerprint.lock().unwrap_or_else(PoisonError::into_inner) == fingerprint
    }

    fn scanned(&self, fingerprint: Option<u64>) {
        *self.fingerprint.lock().unwrap_or_else(PoisonError::into_inner) = fingerprint;
    }
}

/// Where a registry's mirror is: by digest of its name, which may hold what file systems do not tell apart.
fn mirror(mirrors: &Path, name: &RegistryName) -> PathBuf {
    mirrors.join(format!("{}.git", &Digest::of(name.canonical().as_bytes()).hex()[..32]))
}

fn now() -> i64 {
    milliseconds() / 1_000
}

fn milliseconds() -> Milliseconds {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
