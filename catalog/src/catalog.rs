//! The catalogue itself: the parts put together, and the order in which a write goes through them.

mod deliveries;
mod discovered;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as Lockable, PoisonError};

use arc_swap::ArcSwap;
use bytes::Bytes;
use schema::processing::Template;
use schema::reference::Location;
use schema::tree::Files;
use schema::{Digest, RegistryName, TemplateName};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use crate::access::{Grant, Grants, NewToken, Secret, TokenName, Visibility};
use crate::apply::verdict::{self, Acceptance, Erased, Erasure};
use crate::apply::{Applied, Event, Policy, What, apply};
use crate::blobs::Blobs;
use crate::error::{OpenError, ReadError, StoreError, WriteError};
use crate::faults::{Faults, Point};
use crate::jobs::{Job, JobKind, Milliseconds, Origin, Remembered};
use crate::lock::Lock;
use crate::publication::{Publication, SyncFailure};
use crate::report::{ReportedVersion, attach};
use crate::search::document::{README, beginning};
use crate::search::{self, Found, Index, Query, SearchAnswer, Update, UpdateError};
use crate::snapshot::{RegistrySnapshot, Snapshot, TemplateSnapshot, VersionSnapshot, Viewer};
use crate::store::{Discovered, Store};

/// Templates handed to the index at once when it is built anew.
const REBUILT_AT_ONCE: usize = 500;

/// How to open a catalogue.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes of files kept in memory.
    pub cache_bytes: u64,
    /// What the operator decided about versions that change.
    pub policy: Policy,
    /// Where a test stops writes.
    #[cfg(any(test, feature = "testing"))]
    pub faults: Faults,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            cache_bytes: 256 << 20,
            policy: Policy::default(),
            #[cfg(any(test, feature = "testing"))]
            faults: Faults::default(),
        }
    }
}

/// What was found when opening.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Opened {
    /// The generation that readers see.
    pub generation: u64,
    /// Registries remembered.
    pub registries: usize,
    /// Versions remembered and listed.
    pub versions: usize,
    /// Templates the search index had missed and now knows.
    pub replayed: usize,
    /// Why the search index was built anew, if it was.
    pub rebuilt: Option<&'static str>,
    /// Whether the search index could not be brought up to date, which the log explains and the next write tries
    /// again. Everything else works.
    pub search_behind: bool,
}

/// What a publication did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Published {
    /// The generation in which readers see it; the one before if nothing was different.
    pub generation: u64,
    /// Versions that are new or back.
    pub added: usize,
    /// Versions that have other bytes.
    pub changed: usize,
    /// Versions of which something is known or said that was not.
    pub updated: usize,
    /// Versions that are gone.
    pub gone: usize,
    /// Versions that have other bytes upstream, which are held back.
    pub held: usize,
    /// Whether the search index could not follow; it will be brought up to date with the next write.
    pub search_behind: bool,
}

/// What a purge did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purged {
    /// The contents that are not given out any more.
    pub digests: Vec<Digest>,
    /// Files that were erased.
    pub files: usize,
    /// Files that other contents have too, which stay.
    pub files_kept: usize,
    /// The generation in which readers see it.
    pub generation: u64,
}

/// Bytes asked for without waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blob {
    /// Here they are.
    Here(Bytes),
    /// They are on disk: [`Catalog::blob_or_load`] reads them.
    Cold,
    /// The registry has no such file, or the viewer may not see it.
    Absent,
}

/// How full the cache is, roughly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheSize {
    /// Files in memory.
    pub files: u64,
    /// Bytes they take.
    pub bytes: u64,
}

/// Everything that is remembered. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Catalog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    directory: PathBuf,
    lock: Lockable<Option<Lock>>,
    closed: AtomicBool,
    store: Arc<Store>,
    blobs: Blobs,
    index: Index,
    snapshot: ArcSwap<Snapshot>,
    /// The generation readers see, for those who wait for the next.
    generation: watch::Sender<u64>,
    /// What hosts say of registries that were found there, by name.
    discovered: ArcSwap<Vec<Discovered>>,
    grants: ArcSwap<Grants>,
    /// Held by whoever writes; what the search index does not know yet.
    writing: Mutex<Behind>,
    warming: Mutex<Option<JoinHandle<()>>>,
    identity: String,
    policy: Policy,
    faults: Faults,
}

/// What the search index has to catch up with. From the snapshot it is told what to do about each.
#[derive(Debug, Default)]
struct Behind {
    registries: BTreeSet<String>,
    templates: BTreeSet<Location>,
}

impl Catalog {
    /// Opens the catalogue in a data directory, makes the directory if there is none, and takes it for this process.
    ///
    /// Brings the schema up to date, loads the snapshots, and brings the search index to the same generation. Bytes
    /// are read into memory in the background.
    pub async fn open(data: &Path, options: Options) -> Result<(Catalog, Opened), OpenError> {
        std::fs::create_dir_all(data)
            .map_err(|cause| OpenError::Directory { path: data.to_owned(), cause })?;
        let lock = Lock::take(data)?;
        let store = Arc::new(Store::open(&data.join("formwork.db")).await?);
        let loaded = store.load().await?;
        let discovered = store.discovered().await?;
        let grants = store.load_tokens().await?;
        let generation = loaded.snapshot.generation;
        let search = data.join("search");
        let identity = loaded.identity.clone();
        let opening = tokio::task::spawn_blocking(move || Index::open(&search, &loaded.identity, generation));
        let (index, found) = opening
            .await
            .map_err(|error| OpenError::Search { path: data.join("search"), cause: error.to_string() })??;
        let blobs = Blobs::new(options.cache_bytes);
        let warming = warm(store.clone(), blobs.clone());
        let snapshot = loaded.snapshot;
        let counts = snapshot.counts(&Viewer::Operator);
        let inner = Inner {
            directory: data.to_owned(),
            lock: Lockable::new(Some(lock)),
            closed: AtomicBool::new(false),
            store,
            blobs,
            index,
            snapshot: ArcSwap::from_pointee(snapshot),
            generation: watch::Sender::new(generation),
            discovered: ArcSwap::from_pointee(discovered),
            grants: ArcSwap::from_pointee(grants),
            writing: Mutex::default(),
            warming: Mutex::new(Some(warming)),
            identity,
            policy: options.policy,
            #[cfg(any(test, feature = "testing"))]
            faults: options.faults,
            #[cfg(not(any(test, feature = "testing")))]
            faults: Faults::default(),
        };
        let catalog = Catalog(Arc::new(inner));
        let caught_up = catalog.0.clone().catch_up(found).await?;
        let opened =
            Opened { generation, registries: counts.registries, versions: counts.versions, ..caught_up };
        Ok((catalog, opened))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    /// Tells this catalogue from every other one, for as long as its data directory lives.
    pub fn identity(&self) -> &str {
        &self.0.identity
    }

    /// The data directory.
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    /// The catalogue as it is now. One atomic load; take it once for each request.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.0.snapshot.load_full()
    }

    /// The generation readers see, and news of each further one.
    pub fn generations(&self) -> watch::Receiver<u64> {
        self.0.generation.subscribe()
    }

    /// Every token, in memory. One atomic load.
    pub fn grants(&self) -> Arc<Grants> {
        self.0.grants.load_full()
    }

    /// The bytes of a file of a registry, if they are in memory. Never waits.
    pub fn blob(&self, viewer: &Viewer, registry: &RegistryName, digest: &Digest) -> Blob {
        let snapshot = self.0.snapshot.load();
        match snapshot.registry(viewer, registry).filter(|registry| registry.has_blob(digest)) {
            None => Blob::Absent,
            Some(_) => self.0.blobs.get(digest).map_or(Blob::Cold, Blob::Here),
        }
    }

    /// The bytes of a file of a registry, from memory or from disk; `None` if the registry has no such file or the
    /// viewer may not see it.
    pub async fn blob_or_load(
        &self,
        viewer: &Viewer,
        registry: &RegistryName,
        digest: &Digest,
    ) -> Result<Option<Bytes>, ReadError> {
        match self.blob(viewer, registry, digest) {
            Blob::Here(bytes) => Ok(Some(bytes)),
            Blob::Absent => Ok(None),
            Blob::Cold => Ok(self.0.blobs.get_or_load(&self.0.store, digest).await?),
        }
    }

    /// A version with all its bytes, ready to be processed; `None` if the viewer may not see the registry.
    pub async fn template(
        &self,
        viewer: &Viewer,
        registry: &RegistryName,
        name: &TemplateName,
        version: &VersionSnapshot,
    ) -> Result<Option<Template>, ReadError> {
        let mut files = Vec::with_capacity(version.files.len());
        for file in version.files.iter() {
            match self.blob_or_load(viewer, registry, &file.digest).await? {
                Some(bytes) => files.push((file.path.clone(), Arc::<[u8]>::from(&bytes[..]))),
                None => return Ok(None),
            }
        }
        let files = files.into_iter().collect::<Files>();
        Ok(Some(Template { name: name.to_string(), kind: version.kind, entry: version.entry.clone(), files }))
    }

    /// Finds templates by words. Blocks for less than a millisecond, as a rule; runs no SQL.
    pub fn search(&self, viewer: &Viewer, query: &Query) -> SearchAnswer {
        let snapshot = self.0.snapshot.load();
        self.0.index.search(&snapshot, viewer, query)
    }

    /// The generation the search index is built to.
    pub fn search_generation(&self) -> u64 {
        self.0.index.generation()
    }

    /// SQL statements run since opening, all of them.
    pub fn statements(&self) -> u64 {
        self.0.store.statements()
    }

    /// How full the cache of bytes is.
    pub fn cache_size(&self) -> CacheSize {
        let (files, bytes) = self.0.blobs.size();
        CacheSize { files, bytes }
    }

    /// Waits until the bytes that fit are in memory.
    pub async fn warmed(&self) {
        if let Some(warming) = self.0.warming.lock().await.as_mut() {
            // An error was logged where it happened; a second caller finds the task finished.
            let _ = warming.await;
        }
        *self.0.warming.lock().await = None;
    }

    /// Adds a registry of which nothing is known yet, or changes where one comes from. `at` is the time it is, in
    /// seconds since 1970, UTC. Its origin and who sees it stay what they were; a new one is of the
    /// settings, and public.
    pub async fn add_registry(&self, name: &RegistryName, source: &str, at: i64) -> Result<(), WriteError> {
        let (name, source) = (name.clone(), source.to_owned());
        self.write(move |inner| async move { inner.add_registry(name, source, None, None, at).await }).await
    }

    /// [`Catalog::add_registry`], with who may see it (`None` leaves that as it is, and a new one is
    /// public), who asked for it, and what it takes to ask again after a restart.
    pub async fn add_registry_from(
        &self,
        name: &RegistryName,
        source: &str,
        visibility: Option<Visibility>,
        origin: Origin,
        config: Option<String>,
        at: i64,
    ) -> Result<(), WriteError> {
        let (name, source) = (name.clone(), source.to_owned());
        let from = Some((origin, config));
        self.write(move |inner| async move { inner.add_registry(name, source, visibility, from, at).await })
            .await
    }

    /// Who asked for each registry that is remembered.
    pub async fn origins(&self) -> Result<Vec<Remembered>, WriteError> {
        Ok(self.0.store.origins().await?)
    }

    /// Changes who may see a registry, for every answer from now on; `false` if there is none of that name.
    pub async fn set_visibility(
        &self,
        name: &RegistryName,
        visibility: Visibility,
        at: i64,
    ) -> Result<bool, WriteError> {
        let name = name.clone();
        self.write(move |inner| async move { inner.set_visibility(name, visibility, at).await }).await
    }

    /// Makes a token and gives its secret, which is not kept and cannot be had again; `None` if there is a token of
    /// that name.
    pub async fn create_token(&self, token: NewToken, at: i64) -> Result<Option<Secret>, WriteError> {
        self.write(move |inner| async move {
            let _writing = inner.writing.lock().await;
            inner.check_open()?;
            let secret = Secret::fresh().map_err(|error| WriteError::Random(error.to_string()))?;
            let hash = Digest::of(secret.reveal().as_bytes());
            if !inner.store.add_token(&token, &hash, at).await? {
                return Ok(None);
            }
            let grant = Arc::new(Grant::new(token, hash, at, None));
            inner.grants.store(Arc::new(Grants::of(inner.grants.load().list().into_iter().chain([grant]))));
            Ok(Some(secret))
        })
        .await
    }

    /// Revokes a token, for every request from now on; `false` if there is none of that name.
    pub async fn revoke_token(&self, name: &TokenName) -> Result<bool, WriteError> {
        let name = name.clone();
        self.write(move |inner| async move {
            let _writing = inner.writing.lock().await;
            inner.check_open()?;
            let removed = inner.store.remove_token(&name).await?;
            let rest = inner.grants.load().list().into_iter().filter(|grant| grant.token.name != name);
            inner.grants.store(Arc::new(Grants::of(rest)));
            Ok(removed)
        })
        .await
    }

    /// Writes down when tokens were last used. Closing does so too; in between, call it now and then.
    pub async fn save_token_uses(&self) -> Result<(), WriteError> {
        self.write(|inner| async move {
            let _writing = inner.writing.lock().await;
            inner.check_open()?;
            Ok(inner.save_token_uses().await?)
        })
        .await
    }

    /// Removes a registry with everything that was published from it; `false` if there is none.
    pub async fn remove_registry(&self, name: &RegistryName, at: i64) -> Result<bool, WriteError> {
        let name = name.clone();
        self.write(move |inner| async move { inner.remove_registry(name, at).await }).await
    }

    /// Whether the bytes of each digest are stored.
    pub async fn has_blobs(&self, digests: &[Digest]) -> Result<Vec<bool>, WriteError> {
        Ok(self.0.store.has_blobs(digests).await?)
    }

    /// Stores bytes, ahead of the publication that names them. One transaction a call: some megabytes are a good
    /// size. Storing what is stored is harmless.
    pub async fn put_blobs(&self, batch: Vec<(Digest, Vec<u8>)>) -> Result<(), WriteError> {
        self.write(move |inner| async move {
            let _writing = inner.writing.lock().await;
            inner.check_open()?;
            inner.blobs.put(&inner.store, batch).await?;
            inner.faults.reached(Point::BlobsWritten)
        })
        .await
    }

    /// Makes a publication what readers see. All or nothing; what it replaces stays reachable by digest.
    pub async fn publish(&self, publication: Publication) -> Result<Published, WriteError> {
        self.write(move |inner| async move { inner.publish(publication).await }).await
    }

    /// Shows reports on versions of a registry to readers, some at a time: each call is a generation. Those whose
    /// version is gone, or has other bytes by now, are dropped; how many were kept is returned. `at` is the time it
    /// is, in seconds since 1970, UTC.
    pub async fn publish_reports(
        &self,
        registry: &RegistryName,
        reports: Vec<ReportedVersion>,
        at: i64,
    ) -> Result<usize, WriteError> {
        let name = registry.clone();
        self.write(move |inner| async move { inner.publish_reports(name, reports, at).await }).await
    }

    /// Lets in what was held back of a registry. `at` is the time it is, in seconds since 1970, UTC. Answers the
    /// generation in which readers see it.
    ///
    /// # Errors
    /// [`WriteError::Nothing`] if nothing of the kind is held back: somebody else decided, or upstream changed.
    pub async fn accept(
        &self,
        registry: &RegistryName,
        acceptance: Acceptance,
        at: i64,
    ) -> Result<u64, WriteError> {
        let name = registry.clone();
        self.write(move |inner| async move { inner.accept(name, acceptance, at).await }).await
    }

    /// Erases a content or all contents of a version: rows, bytes that no other version has, what is in memory and in
    /// the search index. Whoever asks for it afterwards is told the reason. Mirrors of Git repositories are not this
    /// crate's.
    ///
    /// # Errors
    /// [`WriteError::Nothing`] if there is no such content.
    pub async fn purge(&self, erasure: Erasure, at: i64) -> Result<Purged, WriteError> {
        self.write(move |inner| async move { inner.purge(erasure, at).await }).await
    }

    /// Remembers that a registry could not be brought up to date. What was published stays.
    pub async fn record_failure(&self, name: &RegistryName, failure: SyncFailure) -> Result<(), WriteError> {
        let name = name.clone();
        self.write(move |inner| async move { inner.record_failure(name, failure).await }).await
    }

    /// Asks for a job of a registry: it becomes due at `now` if it was not due before. However often somebody asks,
    /// there is one job; asked for while it runs, it is due again when it ends. `false`: there is no such registry.
    pub async fn ask_job(
        &self,
        name: &RegistryName,
        kind: JobKind,
        cause: &str,
        now: Milliseconds,
    ) -> Result<bool, WriteError> {
        self.check_open()?;
        Ok(self.0.store.ask_job(name, kind, cause, now).await?)
    }

    /// Takes the job that has been due for the longest, if one is, until `until`: nobody else gets it before.
    pub async fn take_job(
        &self,
        kind: JobKind,
        owner: &str,
        now: Milliseconds,
        until: Milliseconds,
    ) -> Result<Option<Job>, WriteError> {
        self.check_open()?;
        let Some(row) = self.0.store.take_job(kind, owner, now, until).await? else { return Ok(None) };
        let snapshot = self.0.snapshot.load();
        let registry = snapshot.registries.values().find(|registry| registry.id == row.registry);
        // Removed between the two: its row went with it.
        Ok(registry.map(|registry| Job {
            registry: registry.name.clone(),
            cause: row.cause,
            attempts: row.attempts,
            due_at: row.due_at,
        }))
    }

    /// When the next job can be taken: when one is due, or the lease of another owner runs out.
    pub async fn next_job(&self, kind: JobKind, owner: &str) -> Result<Option<Milliseconds>, WriteError> {
        self.check_open()?;
        Ok(self.0.store.next_job(kind, owner).await?)
    }

    /// Keeps the jobs of an owner from being taken by others for longer.
    pub async fn renew_jobs(
        &self,
        kind: JobKind,
        owner: &str,
        until: Milliseconds,
    ) -> Result<(), WriteError> {
        self.check_open()?;
        Ok(self.0.store.renew_jobs(kind, owner, until).await?)
    }

    /// Gives a job back that is done for now, due again at `next`, or at once if it was asked for meanwhile. Tells
    /// when it is due; `None` if the job was not this owner's any more.
    pub async fn finish_job(
        &self,
        name: &RegistryName,
        kind: JobKind,
        owner: &str,
        attempts: u32,
        next: Milliseconds,
    ) -> Result<Option<Milliseconds>, WriteError> {
        self.check_open()?;
        let Some(registry) = self.0.registry(name) else { return Ok(None) };
        Ok(self.0.store.finish_job(registry.id, kind, owner, attempts, next).await?)
    }

    /// Frees the jobs of every owner but this one: for whoever knows that the others are dead, as the holder of the
    /// data directory does when it starts.
    pub async fn release_jobs(&self, kind: JobKind, owner: &str) -> Result<u64, WriteError> {
        self.check_open()?;
        Ok(self.0.store.release_jobs(kind, owner).await?)
    }

    /// There is nothing to do for a registry any more.
    pub async fn drop_job(&self, name: &RegistryName, kind: JobKind) -> Result<(), WriteError> {
        self.check_open()?;
        Ok(self.0.store.drop_job(name, kind).await?)
    }

    fn check_open(&self) -> Result<(), WriteError> {
        self.0.check_open()
    }

    /// Waits for writes that were begun, refuses later ones, and gives the data directory back. Reading what is in
    /// memory goes on.
    pub async fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        if let Some(warming) = self.0.warming.lock().await.take() {
            warming.abort();
        }
        let _writing = self.0.writing.lock().await;
        if let Err(error) = self.0.save_token_uses().await {
            tracing::warn!(%error, "when tokens were last used was not written down");
        }
        self.0.store.close().await;
        self.0.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Runs a write to its end, whatever becomes of the caller.
    async fn write<T, F>(&self, work: impl FnOnce(Arc<Inner>) -> F) -> Result<T, WriteError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, WriteError>> + Send + 'static,
    {
        if self.0.closed.load(Ordering::Acquire) {
            return Err(WriteError::Closed);
        }
        match tokio::spawn(work(self.0.clone())).await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(WriteError::Closed),
            },
        }
    }
}

/// Reads bytes into memory in the background.
fn warm(store: Arc<Store>, blobs: Blobs) -> JoinHandle<()> {
    let statement = store.warming();
    tokio::spawn(async move {
        match blobs.warm(&store, statement).await {
            Ok(files) => tracing::debug!(files, "bytes are in memory"),
            Err(error) => tracing::warn!(%error, "bytes were not all read into memory"),
        }
    })
}

impl Inner {
    /// A write may have waited while the catalogue was closed.
    fn check_open(&self) -> Result<(), WriteError> {
        if self.closed.load(Ordering::Acquire) { Err(WriteError::Closed) } else { Ok(()) }
    }

    /// Shows readers a registry, new, changed or (`None`) removed, as of a generation.
    fn swap(&self, generation: u64, name: &RegistryName, registry: Option<RegistrySnapshot>) {
        let mut snapshot = Snapshot::clone(&self.snapshot.load());
        snapshot.generation = generation;
        match registry {
            Some(registry) => snapshot.registries.insert(registry.name.clone(), Arc::new(registry)),
            None => snapshot.registries.remove(name),
        };
        self.snapshot.store(Arc::new(snapshot));
        self.generation.send_replace(generation);
    }

    async fn save_token_uses(&self) -> Result<(), StoreError> {
        let grants = self.grants.load_full();
        let grants = grants.list();
        let used = grants.iter().filter_map(|grant| Some((&grant.token.name, grant.unsaved()?)));
        let used = used.map(|(name, at)| (name.clone(), at)).collect::<Vec<_>>();
        if used.is_empty() {
            return Ok(());
        }
        self.store.tokens_used(&used).await?;
        for (grant, at) in grants.iter().filter_map(|grant| Some((grant, grant.unsaved()?))) {
            let written = used.iter().any(|(name, used)| *name == grant.token.name && *used == at);
            if written {
                grant.saved(at);
            }
        }
        Ok(())
    }

    fn registry(&self, name: &RegistryName) -> Option<Arc<RegistrySnapshot>> {
        self.snapshot.load().registries.get(name).cloned()
    }

    async fn add_registry(
        self: Arc<Self>,
        name: RegistryName,
        source: String,
        visibility: Option<Visibility>,
        from: Option<(Origin, Option<String>)>,
        at: i64,
    ) -> Result<(), WriteError> {
        let _writing = self.writing.lock().await;
        self.check_open()?;
        let old = self.registry(&name);
        let before = old.as_ref().map(|old| old.visibility);
        let visibility = visibility.or(before).unwrap_or_default();
        let same = |old: &&Arc<RegistrySnapshot>| {
            old.source == source && old.name.as_str() == name.as_str() && old.visibility == visibility
        };
        let known = old.as_ref().filter(same);
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        if let Some(known) = known {
            if let Some((origin, config)) = from {
                transaction.set_origin(known.id, origin, config).await?;
                transaction.commit().await?;
            }
            return Ok(());
        }
        let id = transaction.add_registry(&name, &source, visibility).await?;
        if let Some((origin, config)) = from {
            transaction.set_origin(id, origin, config).await?;
        }
        let generation = transaction.generation(&name, "registry-added", at).await?;
        if old.is_none() {
            let event = Event { what: "registry-added", detail: String::new() };
            transaction.log_event(&name, &event, generation, at).await?;
        }
        transaction.commit().await?;
        drop(connection);
        let mut registry = match old {
            Some(old) => {
                let old = RegistrySnapshot::clone(&old);
                RegistrySnapshot { name: name.clone(), source, visibility, ..old }
            }
            None => {
                let new = RegistrySnapshot::new(id, name.clone(), source);
                let mut registry = RegistrySnapshot { visibility, ..new };
                self.store.purges_of(&mut registry).await?;
                registry
            }
        };
        registry.count();
        // A key compares without case: taken out first, so that the new spelling is what is listed.
        self.swap(generation, &name, None);
        self.swap(generation, &name, Some(registry));
        Ok(())
    }

    async fn set_visibility(
        self: Arc<Self>,
        name: RegistryName,
        visibility: Visibility,
        at: i64,
    ) -> Result<bool, WriteError> {
        let _writing = self.writing.lock().await;
        self.check_open()?;
        let Some(old) = self.registry(&name) else { return Ok(false) };
        if old.visibility == visibility {
            return Ok(true);
        }
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        transaction.add_registry(&old.name, &old.source, visibility).await?;
        let generation = transaction.generation(&name, "visibility-changed", at).await?;
        transaction.commit().await?;
        let registry = RegistrySnapshot { visibility, ..RegistrySnapshot::clone(&old) };
        self.swap(generation, &name, Some(registry));
        Ok(true)
    }

    async fn remove_registry(self: Arc<Self>, name: RegistryName, at: i64) -> Result<bool, WriteError> {
        let mut behind = self.writing.lock().await;
        self.check_open()?;
        let Some(old) = self.registry(&name) else { return Ok(false) };
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        let generation = transaction.generation(&name, "registry-removed", at).await?;
        transaction.remove_registry(&old, generation, at).await?;
        transaction.commit().await?;
        drop(connection);
        self.swap(generation, &name, None);
        behind.registries.insert(name.canonical().to_owned());
        behind.templates.retain(|location| location.registry != name);
        self.clone().follow(&mut behind).await?;
        Ok(true)
    }

    async fn record_failure(
        self: Arc<Self>,
        name: RegistryName,
        failure: SyncFailure,
    ) -> Result<(), WriteError> {
        let _writing = self.writing.lock().await;
        self.check_open()?;
        let old = self.registry(&name).ok_or_else(|| WriteError::UnknownRegistry(name.clone()))?;
        let same = |old: &SyncFailure| old.message == failure.message && old.hint == failure.hint;
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        transaction.set_failure(old.id, &failure).await?;
        // The same failure again is no news: whoever has the page need not fetch it.
        let generation = match old.failure.as_ref().is_some_and(same) {
            true => self.snapshot.load().generation,
            false => transaction.generation(&name, "sync-failed", failure.at).await?,
        };
        transaction.commit().await?;
        let registry = RegistrySnapshot { failure: Some(failure), ..RegistrySnapshot::clone(&old) };
        self.swap(generation, &name, Some(registry));
        Ok(())
    }

    async fn accept(
        self: Arc<Self>,
        name: RegistryName,
        acceptance: Acceptance,
        at: i64,
    ) -> Result<u64, WriteError> {
        let mut behind = self.writing.lock().await;
        self.check_open()?;
        let old = self.registry(&name).ok_or_else(|| WriteError::UnknownRegistry(name.clone()))?;
        let applied = verdict::accept(&old, &acceptance, at).ok_or_else(|| {
            WriteError::Nothing(match acceptance {
                Acceptance::Rewrite { location, version, digest } => {
                    format!("no rewrite of {location}:{version} to {digest} is held back")
                }
                Acceptance::Drop => format!("no versions of {name} are held as missing"),
                Acceptance::History => {
                    format!("the branch of {name} was not moved since the last acceptance")
                }
            })
        })?;
        let generation = self.flip(&applied, "accepted", at).await?;
        behind.templates.extend(applied.templates());
        self.swap(generation, &name, Some(applied.registry));
        self.clone().follow(&mut behind).await?;
        Ok(generation)
    }

    async fn purge(self: Arc<Self>, erasure: Erasure, at: i64) -> Result<Purged, WriteError> {
        let mut behind = self.writing.lock().await;
        self.check_open()?;
        let name = erasure.location.registry.clone();
        let old = self.registry(&name).ok_or_else(|| WriteError::UnknownRegistry(name.clone()))?;
        let erased = verdict::erase(&old, &erasure, at).ok_or_else(|| {
            let digest = erasure.digest.map(|digest| format!("@{digest}")).unwrap_or_default();
            WriteError::Nothing(format!(
                "there is nothing to erase at {}:{}{digest}",
                erasure.location, erasure.version
            ))
        })?;
        let Erased { applied, digests, blobs, files, .. } = &erased;
        let snapshot = self.snapshot.load_full();
        let others = || snapshot.registries.values().filter(|other| other.id != old.id);
        let is_elsewhere = |digest: &Digest| others().any(|other| other.has_blob(digest));
        let blobs = blobs.iter().copied().filter(|digest| !is_elsewhere(digest)).collect::<Vec<_>>();
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        let generation = transaction.generation(&name, "purged", at).await?;
        transaction.erase(&erased, &blobs, generation, at).await?;
        transaction.commit().await?;
        drop(connection);
        behind.templates.extend(applied.templates());
        let purged = Purged {
            digests: digests.iter().copied().collect(),
            files: blobs.len(),
            files_kept: files - blobs.len(),
            generation,
        };
        self.swap(generation, &name, Some(applied.registry.clone()));
        blobs.iter().for_each(|digest| self.blobs.forget(digest));
        self.store.fold().await;
        if self.clone().follow(&mut behind).await? {
            let inner = self.clone();
            let compacted = tokio::task::spawn_blocking(move || inner.index.compact()).await;
            if !matches!(compacted, Ok(Ok(()))) {
                tracing::warn!(
                    "the search index still holds words of what was erased; it gives them up when it merges"
                );
            }
        }
        Ok(purged)
    }

    async fn publish(self: Arc<Self>, publication: Publication) -> Result<Published, WriteError> {
        let mut behind = self.writing.lock().await;
        self.check_open()?;
        let name = publication.registry.clone();
        let at = publication.indexed_at;
        let old = self.registry(&name).ok_or_else(|| WriteError::UnknownRegistry(name.clone()))?;
        // Comparing 100,000 versions takes tens of milliseconds: not on a thread that answers requests.
        let comparing = {
            let old = old.clone();
            let policy = self.policy;
            tokio::task::spawn_blocking(move || apply(&old, &publication, &policy))
        };
        let applied = comparing.await.map_err(|_| WriteError::Closed)?;
        let mut published = summary(&applied);
        published.generation = self.snapshot.load().generation;
        if applied.visible {
            self.check_contents(&old, &applied).await?;
            self.store.write_revisions(applied.registry.id, &applied.changes).await?;
            self.faults.reached(Point::FactsWritten)?;
            published.generation = self.flip(&applied, "published", at).await?;
            behind.templates.extend(applied.templates());
            self.faults.reached(Point::Committed)?;
        } else {
            self.store.looked_at(old.id, at).await?;
        }
        self.swap(published.generation, &name, Some(applied.registry));
        self.faults.reached(Point::Swapped)?;
        published.search_behind = !self.clone().follow(&mut behind).await?;
        Ok(published)
    }

    async fn publish_reports(
        self: Arc<Self>,
        name: RegistryName,
        reports: Vec<ReportedVersion>,
        at: i64,
    ) -> Result<usize, WriteError> {
        let mut behind = self.writing.lock().await;
        self.check_open()?;
        let Some(old) = self.registry(&name) else { return Ok(0) };
        let attached = attach(&old, reports);
        if attached.reports.is_empty() {
            return Ok(0);
        }
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        let generation = transaction.generation(&name, "reported", at).await?;
        transaction.write_reports(&attached, generation, at).await?;
        transaction.commit().await?;
        drop(connection);
        self.swap(generation, &name, Some(attached.registry));
        self.clone().follow(&mut behind).await?;
        Ok(attached.reports.len())
    }

    /// The one short transaction; the generation it made.
    async fn flip(&self, applied: &Applied, cause: &str, at: i64) -> Result<u64, WriteError> {
        let mut connection = self.store.writer().await;
        let mut transaction = self.store.begin(&mut connection).await?;
        let generation = transaction.generation(&applied.registry.name, cause, at).await?;
        transaction.publish(applied, generation, at).await?;
        self.faults.reached(Point::Flipped)?;
        transaction.commit().await?;
        Ok(generation)
    }

    /// What is published is what its digests say, and all of it is stored. A publication was put together from what
    /// a child said that read a stranger's repository: it is checked here, where it becomes true.
    async fn check_contents(&self, old: &RegistrySnapshot, applied: &Applied) -> Result<(), WriteError> {
        let mut needed = BTreeSet::new();
        for version in applied
            .changes
            .iter()
            .filter(|change| change.what.brings_bytes())
            .flat_map(|change| [Some(&change.now), change.held.as_ref()])
            .flatten()
        {
            let entries = version.files.iter().map(|file| schema::digest::DigestEntry {
                path: &file.path,
                executable: file.executable,
                content: file.digest,
            });
            let found = Digest::of_version(entries);
            if found != version.digest {
                return Err(WriteError::Digest { named: version.digest, found });
            }
            let unknown = version.files.iter().filter(|file| !old.has_blob(&file.digest));
            needed.extend(unknown.map(|file| file.digest));
        }
        let needed = needed.into_iter().collect::<Vec<_>>();
        let has = self.store.has_blobs(&needed).await?;
        let Some((digest, _)) = needed.iter().zip(has).find(|(_, has)| !has) else { return Ok(()) };
        let named =
            applied.changes.iter().flat_map(|change| change.now.files.iter().map(move |file| (change, file)));
        let path = named
            .filter(|(_, file)| file.digest == *digest)
            .map(|(change, file)| format!("{}/{}", change.now.path, file.path));
        let path = path.into_iter().next().unwrap_or_default();
        Err(WriteError::BlobMissing { path, digest: *digest })
    }

    /// Brings the search index to the snapshot's generation; `false` if it could not, which is logged and tried
    /// again with the next write.
    async fn follow(self: Arc<Self>, behind: &mut Behind) -> Result<bool, WriteError> {
        let snapshot = self.snapshot.load_full();
        if self.index.generation() == snapshot.generation {
            return Ok(true);
        }
        let updates = match self.updates(&snapshot, behind).await {
            Ok(updates) => updates,
            Err(error) => {
                tracing::error!(%error, "the search index cannot follow");
                return Ok(false);
            }
        };
        let inner = self.clone();
        let generation = snapshot.generation;
        let task = tokio::task::spawn_blocking(move || {
            inner.index.add(&updates)?;
            inner.index.commit(generation, &inner.faults)
        });
        match task.await.map_err(|_| WriteError::Closed)? {
            Ok(()) => {
                *behind = Behind::default();
                Ok(true)
            }
            Err(UpdateError::Stopped(error)) => Err(error),
            Err(error) => {
                tracing::error!(%error, "the search index stays behind; the next write or start brings it up to date");
                Ok(false)
            }
        }
    }

    /// What to do about everything the index does not know yet, by the snapshot.
    async fn updates(&self, snapshot: &Snapshot, behind: &Behind) -> Result<Vec<Update>, StoreError> {
        let mut updates = behind.registries.iter().cloned().map(Update::RemoveRegistry).collect::<Vec<_>>();
        for location in &behind.templates {
            let listed = snapshot.registries.get(&location.registry).and_then(|registry| {
                registry.collections.get(&location.collection)?.templates.get(&location.template)
            });
            updates.push(match listed {
                Some(template) => self.put(template).await?,
                None => Update::Remove(location.clone()),
            });
        }
        Ok(updates)
    }

    async fn put(&self, template: &Arc<TemplateSnapshot>) -> Result<Update, StoreError> {
        let readme = template.latest().and_then(|version| version.readme()).map(|file| file.digest);
        let text = match readme {
            Some(digest) => self.blobs.get_or_load(&self.store, &digest).await?,
            None => None,
        };
        let text = text.map(|bytes| {
            let bytes = &bytes[..bytes.len().min(README)];
            beginning(&String::from_utf8_lossy(bytes), README).to_owned()
        });
        Ok(Update::Put(template.clone(), text))
    }

    /// Brings an index that was just opened to the store's generation. What fails here is tried again with the next
    /// write: a catalogue that cannot search is better than none.
    async fn catch_up(self: Arc<Self>, found: Found) -> Result<Opened, StoreError> {
        let snapshot = self.snapshot.load_full();
        let mut behind = self.writing.lock().await;
        match found {
            Found::At(generation) if generation == snapshot.generation => Ok(Opened::default()),
            Found::At(generation) => {
                for [registry, collection, template] in self.store.touched_since(generation).await? {
                    if template.is_empty() {
                        behind.registries.insert(registry);
                    } else if let Some(location) = search::from_spelled(&registry, &collection, &template) {
                        behind.templates.insert(location);
                    }
                }
                let replayed = behind.templates.len();
                let followed = self.clone().follow(&mut behind).await;
                Ok(Opened { replayed, search_behind: !followed.unwrap_or(false), ..Opened::default() })
            }
            Found::Empty(why) => {
                let templates = snapshot.registries.values().flat_map(|registry| registry.templates());
                let templates = templates.cloned().collect::<Vec<_>>();
                let rebuilt = self.clone().rebuild(&templates, snapshot.generation).await;
                if let Err(error) = &rebuilt {
                    tracing::error!(%error, "the search index was not built; the next write tries again");
                    behind.templates.extend(templates.iter().map(|template| template.location.clone()));
                }
                Ok(Opened { rebuilt: Some(why), search_behind: rebuilt.is_err(), ..Opened::default() })
            }
        }
    }

    /// Fills an empty index, some templates at a time, so that not all READMEs are in memory at once.
    async fn rebuild(
        self: Arc<Self>,
        templates: &[Arc<TemplateSnapshot>],
        generation: u64,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        for some in templates.chunks(REBUILT_AT_ONCE) {
            let mut updates = Vec::with_capacity(some.len());
            for template in some {
                updates.push(self.put(template).await?);
            }
            let inner = self.clone();
            tokio::task::spawn_blocking(move || inner.index.add(&updates)).await??;
        }
        let inner = self.clone();
        tokio::task::spawn_blocking(move || inner.index.commit(generation, &inner.faults)).await??;
        Ok(())
    }
}

fn summary(applied: &Applied) -> Published {
    let mut published = Published::default();
    for change in &applied.changes {
        match change.what {
            What::Added | What::Returned => published.added += 1,
            What::Changed | What::Revised | What::Accepted => published.changed += 1,
            What::Updated | What::Withdrawn | What::Deprecated | What::Cleared | What::Missing => {
                published.updated += 1;
            }
            What::Held => published.held += 1,
            What::Gone | What::Purged => published.gone += 1,
            What::Reported => {}
        }
    }
    published
}
