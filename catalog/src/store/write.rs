//! Writing: facts ahead in small batches, then one short transaction that flips pointers.
//!
//! What is written ahead is not pointed at by anything: a crash leaves rows that the next publication of the same
//! content takes up, and that nobody sees until then.

use schema::reference::Location;
use schema::{CollectionName, Digest, RegistryName};
use serde::Serialize;
use sqlx::{Connection, SqliteConnection};

use super::{Store, queries};
use crate::apply::{Applied, Change, What};
use crate::error::StoreError;
use crate::jobs::Origin;
use crate::publication::SyncFailure;
use crate::snapshot::RegistrySnapshot;

/// Rows written ahead in one transaction.
const BATCH: usize = 500;

/// A transaction of the one writer. Rolled back unless committed.
pub(crate) struct Transaction<'c> {
    store: &'c Store,
    inner: sqlx::Transaction<'c, sqlx::Sqlite>,
}

impl Store {
    /// Whether the store has the bytes of each digest.
    pub(crate) async fn has_blobs(&self, digests: &[Digest]) -> Result<Vec<bool>, StoreError> {
        let mut connection = self.writer.lock().await;
        let mut found = std::collections::HashSet::new();
        for some in digests.chunks(queries::HAS_BLOBS_WIDTH) {
            let mut query = self.query(&queries::HAS_BLOBS);
            // The statement has a fixed width; the last digest fills it up.
            for at in 0..queries::HAS_BLOBS_WIDTH {
                query = query.bind(some[at.min(some.len() - 1)].as_bytes().to_vec());
            }
            for row in query.fetch_all(&mut *connection).await.map_err(|e| self.error(e))? {
                found.insert(self.digest(self.get(&row, 0)?)?);
            }
        }
        Ok(digests.iter().map(|digest| found.contains(digest)).collect())
    }

    /// Keeps bytes: digest, size before encoding, encoding, bytes. One transaction.
    pub(crate) async fn put_blobs(
        &self,
        blobs: Vec<(Digest, usize, i64, Vec<u8>)>,
    ) -> Result<(), StoreError> {
        let mut connection = self.writer.lock().await;
        let mut transaction = self.begin(&mut connection).await?;
        for (digest, size, encoding, content) in blobs {
            let query = self.query(&queries::ADD_BLOB).bind(digest.as_bytes().to_vec()).bind(size as i64);
            transaction.run(query.bind(encoding).bind(content)).await?;
        }
        transaction.commit().await
    }

    /// Writes the facts of new contents ahead, unseen.
    pub(crate) async fn write_revisions(&self, registry: i64, changes: &[Change]) -> Result<(), StoreError> {
        let new = changes.iter().filter(|change| change.what != What::Gone).collect::<Vec<_>>();
        for some in new.chunks(BATCH) {
            let mut connection = self.writer.lock().await;
            let mut transaction = self.begin(&mut connection).await?;
            for change in some {
                let now = &change.now;
                let query = self
                    .query(&queries::WRITE_REVISION)
                    .bind(registry)
                    .bind(collection_text(change.collection.as_ref()))
                    .bind(change.template.to_string())
                    .bind(now.version.to_string())
                    .bind(now.digest.as_bytes().to_vec())
                    .bind(now.kind.as_str())
                    .bind(now.entry.clone())
                    .bind(json(&now.files))
                    .bind(now.inspection.text().to_owned())
                    .bind(now.path.clone())
                    .bind(now.tree_id.clone());
                transaction.run(query).await?;
            }
            transaction.commit().await?;
        }
        Ok(())
    }

    /// A transaction that publishes: the writer is taken until it is committed or dropped.
    pub(crate) async fn begin<'c>(
        &'c self,
        connection: &'c mut SqliteConnection,
    ) -> Result<Transaction<'c>, StoreError> {
        let inner = connection.begin().await.map_err(|error| self.error(error))?;
        Ok(Transaction { store: self, inner })
    }

    /// The one connection that writes, for [`Store::begin`].
    pub(crate) async fn writer(&self) -> tokio::sync::MutexGuard<'_, SqliteConnection> {
        self.writer.lock().await
    }

    /// Remembers that a registry was looked at and found unchanged. Readers see no difference worth a generation.
    pub(crate) async fn looked_at(&self, registry: i64, at: i64) -> Result<(), StoreError> {
        let mut connection = self.writer.lock().await;
        let query = self.query(&queries::LOOKED_AT).bind(registry).bind(at);
        query.execute(&mut *connection).await.map_err(|e| self.error(e))?;
        Ok(())
    }
}

impl Transaction<'_> {
    pub(super) fn store(&self) -> &Store {
        self.store
    }

    pub(super) async fn run(&mut self, query: super::Query) -> Result<(), StoreError> {
        query.execute(&mut *self.inner).await.map_err(|error| self.store.error(error))?;
        Ok(())
    }

    async fn number(&mut self, query: super::Query) -> Result<i64, StoreError> {
        let row = query.fetch_one(&mut *self.inner).await.map_err(|error| self.store.error(error))?;
        self.store.get(&row, 0)
    }

    /// The number of the generation this transaction makes.
    pub(crate) async fn generation(
        &mut self,
        registry: &RegistryName,
        cause: &str,
        at: i64,
    ) -> Result<u64, StoreError> {
        let query = self.store.query(&queries::NEXT_GENERATION);
        let query = query.bind(registry.canonical().to_owned()).bind(cause.to_owned()).bind(at);
        Ok(self.number(query).await? as u64)
    }

    /// Adds a registry or changes its source; its key.
    pub(crate) async fn add_registry(
        &mut self,
        name: &RegistryName,
        source: &str,
    ) -> Result<i64, StoreError> {
        let query = self.store.query(&queries::ADD_REGISTRY).bind(name.canonical().to_owned());
        self.number(query.bind(name.to_string()).bind(source.to_owned())).await
    }

    /// Remembers who asked for a registry.
    pub(crate) async fn set_origin(
        &mut self,
        registry: i64,
        origin: Origin,
        config: Option<String>,
    ) -> Result<(), StoreError> {
        let query = self.store.query(&queries::SET_ORIGIN).bind(registry);
        self.run(query.bind(origin.as_str()).bind(config)).await
    }

    /// Removes a registry with everything that was published from it, and logs that.
    pub(crate) async fn remove_registry(
        &mut self,
        registry: &RegistrySnapshot,
        generation: u64,
        at: i64,
    ) -> Result<(), StoreError> {
        self.run(self.store.query(&queries::REMOVE_REGISTRY_VERSIONS).bind(registry.id)).await?;
        self.run(self.store.query(&queries::REMOVE_REGISTRY).bind(registry.id)).await?;
        let query = self
            .store
            .query(&queries::ADD_CHANGE)
            .bind(generation as i64)
            .bind(registry.name.canonical().to_owned());
        let query = query.bind("").bind("").bind("").bind("registry-removed").bind(None::<Vec<u8>>).bind(at);
        self.run(query).await
    }

    /// Remembers why the last attempt failed.
    pub(crate) async fn set_failure(
        &mut self,
        registry: i64,
        failure: &SyncFailure,
    ) -> Result<(), StoreError> {
        self.run(self.store.query(&queries::SET_FAILURE).bind(registry).bind(json(failure))).await
    }

    /// Flips everything a publication changed. Facts must have been written ahead.
    pub(crate) async fn publish(
        &mut self,
        applied: &Applied,
        generation: u64,
        at: i64,
    ) -> Result<(), StoreError> {
        let registry = &applied.registry;
        let query = self
            .store
            .query(&queries::PUBLISH_REGISTRY)
            .bind(registry.id)
            .bind(registry.source.clone())
            .bind(registry.branch.clone())
            .bind(registry.commit.clone())
            .bind(registry.indexed_at)
            .bind(registry.title.clone())
            .bind(registry.description.clone())
            .bind(json(&registry.maintainers))
            .bind(json(&registry.links))
            .bind(json(&registry.findings));
        self.run(query).await?;
        if applied.collections_changed {
            self.write_collections(registry).await?;
        }
        for change in &applied.changes {
            self.flip(registry, change, at).await?;
            self.log(registry, change, generation, at).await?;
        }
        Ok(())
    }

    /// Adds a line to the change log.
    pub(super) async fn log(
        &mut self,
        registry: &RegistrySnapshot,
        change: &Change,
        generation: u64,
        at: i64,
    ) -> Result<(), StoreError> {
        let query = self
            .store
            .query(&queries::ADD_CHANGE)
            .bind(generation as i64)
            .bind(registry.name.canonical().to_owned())
            .bind(collection_text(change.collection.as_ref()))
            .bind(change.template.to_string())
            .bind(change.now.version.to_string())
            .bind(change.what.as_str())
            .bind(change.now.digest.as_bytes().to_vec())
            .bind(at);
        self.run(query).await
    }

    async fn flip(
        &mut self,
        registry: &RegistrySnapshot,
        change: &Change,
        at: i64,
    ) -> Result<(), StoreError> {
        let now = &change.now;
        let place = |query: super::Query| {
            query
                .bind(registry.id)
                .bind(collection_text(change.collection.as_ref()))
                .bind(change.template.to_string())
                .bind(now.version.to_string())
        };
        if change.what == What::Gone {
            return self.run(place(self.store.query(&queries::GONE_VERSION)).bind(at)).await;
        }
        let publish = place(self.store.query(&queries::PUBLISH_REVISION))
            .bind(now.digest.as_bytes().to_vec())
            .bind(now.inspection.text().to_owned())
            .bind(now.path.clone())
            .bind(now.tree_id.clone())
            .bind(now.commit.clone())
            .bind(at);
        let revision = self.number(publish).await?;
        let point = place(self.store.query(&queries::POINT_VERSION))
            .bind(revision)
            .bind(json(&now.findings))
            .bind(now.withdrawn.as_ref().map(json))
            .bind(now.deprecated.as_ref().map(json))
            .bind(now.published_at);
        self.run(point).await
    }

    async fn write_collections(&mut self, registry: &RegistrySnapshot) -> Result<(), StoreError> {
        self.run(self.store.query(&queries::CLEAR_COLLECTIONS).bind(registry.id)).await?;
        for (name, collection) in &registry.collections {
            let alias = registry.aliases.iter().find(|(_, real)| Some(*real) == name.as_ref());
            let query = self
                .store
                .query(&queries::ADD_COLLECTION)
                .bind(registry.id)
                .bind(collection_text(name.as_ref()))
                .bind(collection.path.clone())
                .bind(collection.title.clone())
                .bind(collection.description.clone())
                .bind(alias.map(|(alias, _)| alias.to_string()));
            self.run(query).await?;
        }
        Ok(())
    }

    /// Makes it so.
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        let store = self.store;
        self.inner.commit().await.map_err(|error| store.error(error))
    }
}

pub(super) fn collection_text(collection: Option<&CollectionName>) -> String {
    collection.map_or_else(String::new, ToString::to_string)
}

/// A location as the change log spells it.
pub(crate) fn spelled(location: &Location) -> [String; 3] {
    [
        location.registry.canonical().to_owned(),
        collection_text(location.collection.as_ref()),
        location.template.to_string(),
    ]
}

pub(super) fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("what is stored is plain data with text keys")
}
