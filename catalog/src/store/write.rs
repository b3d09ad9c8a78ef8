//! Writing: facts ahead in small batches, then one short transaction that flips pointers.
//!
//! What is written ahead is not pointed at by anything: a crash leaves rows that the next publication of the same
//! content takes up, and that nobody sees until then.

use std::sync::Arc;

use schema::reference::Location;
use schema::{CollectionName, Digest, RegistryName};
use serde::Serialize;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, SqliteConnection};

use super::queries::Statement;
use super::{Store, queries};
use crate::access::Visibility;
use crate::apply::verdict::Erased;
use crate::apply::{Applied, Change, Event, What};
use crate::error::StoreError;
use crate::jobs::Origin;
use crate::publication::SyncFailure;
use crate::snapshot::{RegistrySnapshot, Standing, VersionSnapshot};

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
        let bind = |query: super::Query, (digest, size, encoding, content): (Digest, usize, i64, Vec<u8>)| {
            query.bind(digest.as_bytes().to_vec()).bind(size as i64).bind(encoding).bind(content)
        };
        transaction.insert(&queries::ADD_BLOB, blobs, bind).await?;
        transaction.commit().await
    }

    /// Writes the facts of new contents ahead, unseen.
    pub(crate) async fn write_revisions(&self, registry: i64, changes: &[Change]) -> Result<(), StoreError> {
        let new = changes.iter().filter(|change| !matches!(change.what, What::Gone | What::Missing));
        let new = new.flat_map(|change| {
            [Some(&change.now), change.held.as_ref()]
                .into_iter()
                .flatten()
                .map(move |content| (change, content))
        });
        for some in new.collect::<Vec<_>>().chunks(BATCH) {
            let mut connection = self.writer.lock().await;
            let mut transaction = self.begin(&mut connection).await?;
            let bind = |query: super::Query, (change, now): (&Change, &Arc<VersionSnapshot>)| {
                let introduced = now.introduced.as_deref();
                query
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
                    .bind(now.tree_id.clone())
                    .bind(now.commit.clone())
                    .bind(now.seen_at)
                    .bind(introduced.and_then(|introduced| introduced.commit.clone()))
                    .bind(introduced.map(|introduced| introduced.at))
                    .bind(introduced.map(|introduced| introduced.author.clone()))
            };
            transaction.insert(&queries::WRITE_REVISION, some.to_vec(), bind).await?;
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

    /// The first row a query gives, if it gives one.
    pub(super) async fn row(&mut self, query: super::Query) -> Result<Option<SqliteRow>, StoreError> {
        query.fetch_optional(&mut *self.inner).await.map_err(|error| self.store.error(error))
    }

    /// Inserts rows, many at a time as long as there are many.
    async fn insert<T>(
        &mut self,
        statement: &'static Statement,
        rows: Vec<T>,
        bind: impl Fn(super::Query, T) -> super::Query,
    ) -> Result<(), StoreError> {
        let mut rows = rows.into_iter();
        while rows.len() > 0 {
            let some = rows.by_ref().take(queries::ROWS).collect::<Vec<_>>();
            if some.len() == queries::ROWS {
                let wide = self.store.query(queries::widened(statement));
                self.run(some.into_iter().fold(wide, &bind)).await?;
            } else {
                for row in some {
                    self.run(bind(self.store.query(statement), row)).await?;
                }
            }
        }
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

    /// Adds a registry or changes its source and who sees it; its key.
    pub(crate) async fn add_registry(
        &mut self,
        name: &RegistryName,
        source: &str,
        visibility: Visibility,
    ) -> Result<i64, StoreError> {
        let query = self.store.query(&queries::ADD_REGISTRY).bind(name.canonical().to_owned());
        let query = query.bind(name.to_string()).bind(source.to_owned()).bind(visibility.as_str());
        self.number(query).await
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
        self.run(query.bind(None::<String>)).await
    }

    /// Logs something that happened to a registry as a whole.
    pub(crate) async fn log_event(
        &mut self,
        registry: &RegistryName,
        event: &Event,
        generation: u64,
        at: i64,
    ) -> Result<(), StoreError> {
        let query = self.store.query(&queries::ADD_CHANGE).bind(generation as i64);
        let query = query.bind(registry.canonical().to_owned()).bind("").bind("").bind("").bind(event.what);
        let detail = Some(event.detail.clone()).filter(|detail| !detail.is_empty());
        self.run(query.bind(None::<Vec<u8>>).bind(at).bind(detail)).await
    }

    /// Erases contents of a version, whatever became of them, with files nobody else has; remembers why. The version
    /// itself stays if it is among the changes' registry with other bytes.
    pub(crate) async fn erase(
        &mut self,
        erased: &Erased,
        blobs: &[Digest],
        generation: u64,
        at: i64,
    ) -> Result<(), StoreError> {
        let registry = &erased.applied.registry;
        for change in &erased.applied.changes {
            let key = || {
                (
                    collection_text(change.collection.as_ref()),
                    change.template.to_string(),
                    change.now.version.to_string(),
                )
            };
            let place = |query: super::Query| {
                let (collection, template, version) = key();
                query.bind(registry.id).bind(collection).bind(template).bind(version)
            };
            self.run(place(self.store.query(&queries::REMOVE_VERSION))).await?;
            if erased.purge.whole {
                self.run(place(self.store.query(&queries::REMOVE_REVISIONS))).await?;
            } else {
                for digest in &erased.digests {
                    let query = place(self.store.query(&queries::REMOVE_REVISION));
                    self.run(query.bind(digest.as_bytes().to_vec())).await?;
                }
            }
            let template = registry.template(change.collection.as_ref(), &change.template);
            let left = template.and_then(|template| {
                let now = template.version(&change.now.version)?.clone();
                Some((now, template.held.get(&change.now.version).cloned()))
            });
            if let Some((now, held)) = left {
                let left = Change { now, held, ..change.clone() };
                self.flip(registry, &left, generation, at).await?;
            }
            // Whatever is left of the template is another template now.
            let query = self.store.query(&queries::TOUCH_TEMPLATE).bind(registry.id);
            let query = query.bind(collection_text(change.collection.as_ref()));
            self.run(query.bind(change.template.to_string()).bind(generation as i64)).await?;
            for digest in &erased.digests {
                let (collection, template, version) = key();
                let query = self
                    .store
                    .query(&queries::ADD_PURGE)
                    .bind(registry.name.canonical().to_owned())
                    .bind(collection)
                    .bind(template)
                    .bind(version)
                    .bind(digest.as_bytes().to_vec())
                    .bind(i64::from(erased.purge.whole))
                    .bind(erased.purge.reason.clone())
                    .bind(at);
                self.run(query).await?;
                self.log_change(registry, change, *digest, Some(&erased.purge.reason), generation, at)
                    .await?;
            }
        }
        for digest in blobs {
            self.run(self.store.query(&queries::REMOVE_BLOB).bind(digest.as_bytes().to_vec())).await?;
        }
        Ok(())
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
        let (added, others) = applied
            .changes
            .iter()
            .partition::<Vec<_>, _>(|change| change.what == What::Added && change.held.is_none());
        self.add_versions(registry, added, generation, at).await?;
        for change in others {
            self.flip(registry, change, generation, at).await?;
        }
        let logged = applied.changes.iter().filter(|change| change.what.is_logged());
        let rows = logged.map(|change| {
            let detail = match change.what {
                What::Held => Some(format!("what is served stays {}", change.now.digest)),
                What::Withdrawn => change.now.withdrawn.as_ref().map(|notice| notice.reason.clone()),
                What::Deprecated => change.now.deprecated.as_ref().map(|notice| notice.reason.clone()),
                _ => None,
            };
            (change, change.digest(), detail)
        });
        let rows = rows.collect::<Vec<_>>();
        let bind = |query, (change, digest, detail): (&Change, Digest, Option<String>)| {
            bind_change(query, registry, change, digest, detail.as_deref(), generation, at)
        };
        self.insert(&queries::ADD_CHANGE, rows, bind).await?;
        for event in &applied.events {
            self.log_event(&registry.name, event, generation, at).await?;
        }
        Ok(())
    }

    /// Points at new versions, of which everything else was written ahead.
    async fn add_versions(
        &mut self,
        registry: &RegistrySnapshot,
        added: Vec<&Change>,
        generation: u64,
        at: i64,
    ) -> Result<(), StoreError> {
        let bind = |query: super::Query, change: &Change| {
            let now = &change.now;
            query
                .bind(registry.id)
                .bind(collection_text(change.collection.as_ref()))
                .bind(change.template.to_string())
                .bind(now.version.to_string())
                .bind(now.digest.as_bytes().to_vec())
                .bind(json(&now.findings))
                .bind(now.withdrawn.as_ref().map(json))
                .bind(now.deprecated.as_ref().map(json))
                .bind(now.published_at)
                .bind(now.settles_at)
                .bind(json(&now.notes))
                .bind(generation as i64)
        };
        if added.is_empty() {
            return Ok(());
        }
        self.insert(&queries::ADD_VERSION, added, bind).await?;
        self.run(self.store.query(&queries::PUBLISH_ADDED).bind(registry.id).bind(at)).await
    }

    pub(super) async fn log_change(
        &mut self,
        registry: &RegistrySnapshot,
        change: &Change,
        digest: Digest,
        detail: Option<&str>,
        generation: u64,
        at: i64,
    ) -> Result<(), StoreError> {
        let query = self.store.query(&queries::ADD_CHANGE);
        self.run(bind_change(query, registry, change, digest, detail, generation, at)).await
    }

    async fn flip(
        &mut self,
        registry: &RegistrySnapshot,
        change: &Change,
        generation: u64,
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
        let update = |content: &VersionSnapshot, published_at: Option<i64>| {
            let introduced = content.introduced.as_deref();
            place(self.store.query(&queries::UPDATE_REVISION))
                .bind(content.digest.as_bytes().to_vec())
                .bind(content.inspection.text().to_owned())
                .bind(content.path.clone())
                .bind(content.tree_id.clone())
                .bind(content.commit.clone())
                .bind(json(&content.files))
                .bind(content.seen_at)
                .bind(introduced.and_then(|introduced| introduced.commit.clone()))
                .bind(introduced.map(|introduced| introduced.at))
                .bind(introduced.map(|introduced| introduced.author.clone()))
                .bind(published_at)
        };
        let (publish, hold) = (update(now, Some(at)), change.held.as_ref().map(|held| update(held, None)));
        let revision = self.number(publish).await?;
        let held = match hold {
            Some(hold) => Some(self.number(hold).await?),
            None => None,
        };
        let gone_at = match now.standing {
            Standing::Gone { at } => Some(at),
            _ => None,
        };
        let point = place(self.store.query(&queries::POINT_VERSION))
            .bind(revision)
            .bind(json(&now.findings))
            .bind(now.withdrawn.as_ref().map(json))
            .bind(now.deprecated.as_ref().map(json))
            .bind(now.published_at)
            .bind(now.settles_at)
            .bind(gone_at)
            .bind(now.missing_since)
            .bind(json(&now.notes))
            .bind(held)
            .bind(change.held.as_ref().map(|held| json(&held.findings)))
            .bind(generation as i64);
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

fn bind_change(
    query: super::Query,
    registry: &RegistrySnapshot,
    change: &Change,
    digest: Digest,
    detail: Option<&str>,
    generation: u64,
    at: i64,
) -> super::Query {
    query
        .bind(generation as i64)
        .bind(registry.name.canonical().to_owned())
        .bind(collection_text(change.collection.as_ref()))
        .bind(change.template.to_string())
        .bind(change.now.version.to_string())
        .bind(change.what.as_str())
        .bind(digest.as_bytes().to_vec())
        .bind(at)
        .bind(detail.map(str::to_owned))
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
