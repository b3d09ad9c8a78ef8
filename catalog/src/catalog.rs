//! The catalogue itself: the parts put together, what is read of it, and how a write runs to its end. What is written
//! is in the modules below, one for each thing.

mod deliveries;
mod deployments;
mod discovered;
mod following;
mod jobs;
mod publishing;
mod registries;
mod tokens;

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

use crate::access::Grants;
use crate::apply::Policy;
use crate::blobs::Blobs;
use crate::error::{OpenError, ReadError, WriteError};
use crate::faults::{Faults, Point};
use crate::lock::Lock;
use crate::search::{Index, Query, SearchAnswer};
use crate::snapshot::{RegistrySnapshot, Snapshot, VersionSnapshot, Viewer};
use crate::store::{Discovered, Store};

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
        Ok(Some(Template {
            name: name.to_string(),
            kind: version.kind,
            entry: version.entry.clone(),
            files,
            jinja2: version.report.made().is_some_and(|report| report.is_rendered_by_jinja2()),
        }))
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

    /// Whether news could be written down now: what is read needs no room, what comes does.
    ///
    /// # Errors
    /// What the system says.
    pub async fn check_writable(&self) -> std::io::Result<()> {
        let probe = self.directory().join(".writable");
        tokio::fs::write(&probe, [0; 4_096]).await?;
        tokio::fs::remove_file(&probe).await
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

    fn registry(&self, name: &RegistryName) -> Option<Arc<RegistrySnapshot>> {
        self.snapshot.load().registries.get(name).cloned()
    }
}
