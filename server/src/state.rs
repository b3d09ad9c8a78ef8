//! What every handler can reach. Made once at start; nothing in it changes but counters and caches.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use catalog::{Catalog, Snapshot, Viewer};
use indexer::{
    Indexer, RegistryConfig, RegistryStatus, Remote, Revision, SourceError, StoreError, Stored, Submission,
    SyncError, SyncStatistics,
};
use schema::processing::Step;
use schema::reference::Home;
use schema::{CollectionName, Kind, RegistryName, TemplateName};
use wire::operations::Workers;
use worker::python::PythonState;
use worker::{Job, Pool, WorkerError};

use crate::access::sessions::Sessions;
use crate::access_log::AccessLogger;
use crate::compress::Packed;
use crate::dm::Manager;
use crate::kubernetes::Kubernetes;
use crate::limits::Limits;
use crate::memo::Memo;
use crate::metrics::Metrics;
use crate::pages::{home, registry};
use crate::previews::Previews;
use crate::ready::ReadyAnswers;
use crate::request_id::RequestIds;
use crate::webhooks::Receiver;

/// A future that is boxed because it crosses a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Whatever processes templates: the pool of worker processes, or the engine itself in tests of this crate.
pub trait Processor: Send + Sync + 'static {
    /// Runs one step of one job.
    fn process(&self, job: Job) -> BoxFuture<'_, Result<Step, WorkerError>>;

    /// Whether it can process templates of a kind at all.
    fn can_process(&self, kind: Kind) -> bool;

    /// How busy it is, and how many workers were stopped since the start.
    fn load(&self) -> (Workers, u64);

    /// What keeps templates in, in a line for operators, and whether that is everything it could be.
    fn confinement(&self) -> (String, bool);

    /// How far Python for templates is; nothing where there is none.
    fn python(&self) -> Option<PythonState>;
}

impl Processor for Arc<Pool> {
    fn process(&self, job: Job) -> BoxFuture<'_, Result<Step, WorkerError>> {
        Box::pin(Pool::process(self, job))
    }

    fn can_process(&self, kind: Kind) -> bool {
        worker::can_process(kind)
    }

    fn load(&self) -> (Workers, u64) {
        let stats = self.stats();
        (Workers { workers: stats.workers, busy: stats.busy, queued: stats.queued }, stats.killed)
    }

    fn confinement(&self) -> (String, bool) {
        let confinement = Pool::confinement(self);
        let gaps = confinement.gaps();
        let detail =
            if gaps.is_empty() { "everything asked for is in force".to_owned() } else { gaps.join("; ") };
        (detail, confinement.is_complete())
    }

    fn python(&self) -> Option<PythonState> {
        Pool::python(self)
    }
}

/// Whatever brings registries up to date.
pub trait Syncs: Send + Sync + 'static {
    /// How it goes, by registry.
    fn status(&self) -> Vec<RegistryStatus>;

    /// Figures of the queue; what ended since the last call is told once.
    fn statistics(&self) -> SyncStatistics;

    /// Judges a source that somebody names over the API, and says how it is reached.
    fn admit(
        &self,
        name: RegistryName,
        source: &str,
        revision: Revision,
    ) -> Result<RegistryConfig, SourceError>;

    /// Adds a registry while the server runs, or changes where one comes from; it is there after a restart.
    fn add(&self, registry: RegistryConfig) -> BoxFuture<'_, Result<(), SyncError>>;

    /// Removes a registry with everything that was published from it; `false` if there is none.
    fn remove(&self, name: RegistryName) -> BoxFuture<'_, Result<bool, SyncError>>;

    /// Asks for a registry to be looked at; `false` if it is not kept up to date.
    fn sync_now(&self, name: &RegistryName) -> bool;

    /// Stores a version in a hosted registry, which comes to be with the first one.
    fn store(
        &self,
        registry: RegistryName,
        submission: Submission,
        author: String,
    ) -> BoxFuture<'_, Result<Stored, StoreError>>;

    /// Lets all versions of a template of a hosted registry go.
    fn let_go(
        &self,
        registry: RegistryName,
        collection: Option<CollectionName>,
        template: TemplateName,
    ) -> BoxFuture<'_, Result<Stored, StoreError>>;
}

impl Syncs for Arc<Indexer> {
    fn status(&self) -> Vec<RegistryStatus> {
        Indexer::status(self)
    }

    fn statistics(&self) -> SyncStatistics {
        Indexer::statistics(self)
    }

    fn admit(
        &self,
        name: RegistryName,
        source: &str,
        revision: Revision,
    ) -> Result<RegistryConfig, SourceError> {
        Indexer::admit(self, name, source, revision)
    }

    fn add(&self, registry: RegistryConfig) -> BoxFuture<'_, Result<(), SyncError>> {
        Box::pin(Indexer::add(self, registry))
    }

    fn remove(&self, name: RegistryName) -> BoxFuture<'_, Result<bool, SyncError>> {
        Box::pin(async move { Indexer::remove(self, &name).await })
    }

    fn sync_now(&self, name: &RegistryName) -> bool {
        Indexer::sync_now(self, name)
    }

    fn store(
        &self,
        registry: RegistryName,
        submission: Submission,
        author: String,
    ) -> BoxFuture<'_, Result<Stored, StoreError>> {
        Box::pin(async move { Indexer::store(self, &registry, submission, &author).await })
    }

    fn let_go(
        &self,
        registry: RegistryName,
        collection: Option<CollectionName>,
        template: TemplateName,
    ) -> BoxFuture<'_, Result<Stored, StoreError>> {
        Box::pin(async move { Indexer::let_go(self, &registry, collection.as_ref(), &template).await })
    }
}

/// The shared state.
pub(crate) struct App {
    pub(crate) catalog: Catalog,
    pub(crate) processor: Box<dyn Processor>,
    pub(crate) syncs: Box<dyn Syncs>,
    pub(crate) home: Option<Home>,
    /// What fetches templates behind URLs, where the operator allows any.
    pub(crate) remote: Remote,
    /// The public URL without its last slash, or nothing: what stands in front of a path in JSON. Never taken from a
    /// request, so that no `Host` header gets into an answer others see.
    pub(crate) base: String,
    /// Where a command line on a page sends its reader: the public URL, else the address listened on.
    pub(crate) shown_base: String,
    pub(crate) metrics: Metrics,
    pub(crate) sessions: Sessions,
    pub(crate) ready: ReadyAnswers,
    pub(crate) packed: Packed,
    pub(crate) limits: Limits,
    pub(crate) previews: Previews,
    pub(crate) home_page: Memo<home::Summary>,
    pub(crate) registry_pages: Memo<registry::Overview>,
    pub(crate) ids: RequestIds,
    pub(crate) log: AccessLogger,
    pub(crate) webhooks: Receiver,
    pub(crate) dm: Manager,
    pub(crate) kubernetes: Kubernetes,
}

impl App {
    /// Where short references go, if the viewer may see it.
    pub(crate) fn home_for(&self, snapshot: &Snapshot, viewer: &Viewer) -> Option<&Home> {
        self.home.as_ref().filter(|home| snapshot.registry(viewer, &home.registry).is_some())
    }

    /// How bringing registries up to date goes, of those that the viewer may see. One that the catalogue does not
    /// know yet is seen by who sees everything.
    pub(crate) fn syncs_for(&self, snapshot: &Snapshot, viewer: &Viewer) -> Vec<RegistryStatus> {
        let mut statuses = self.syncs.status();
        let seen = |name: &RegistryName| match snapshot.registries.get(name) {
            Some(registry) => registry.visible_to(viewer),
            None => *viewer == Viewer::Operator,
        };
        statuses.retain(|status| seen(&status.name));
        statuses
    }

    /// How bringing one registry up to date goes.
    pub(crate) fn sync_of(&self, name: &RegistryName) -> Option<RegistryStatus> {
        self.syncs.status().into_iter().find(|status| status.name == *name)
    }
}
