//! Everything the store holds, read at once: one query for each table, however many registries there are.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;
use schema::{CollectionName, Digest, Kind, TemplateName, Version};
use serde::de::DeserializeOwned;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use super::{Store, queries};
use crate::apply;
use crate::error::StoreError;
use crate::publication::{Facts, Introduced};
use crate::snapshot::{
    CollectionSnapshot, Purge, RegistrySnapshot, Snapshot, Standing, TemplateSnapshot, VersionSnapshot,
};

/// What the store holds.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Tells this store from another.
    pub(crate) identity: String,
    /// The catalogue as it was last published.
    pub(crate) snapshot: Snapshot,
}

type Place = (Option<CollectionName>, TemplateName);
type Templates = BTreeMap<Place, TemplateSnapshot>;

impl Store {
    /// Reads everything but the bytes of files.
    pub(crate) async fn load(&self) -> Result<Loaded, StoreError> {
        let mut connection = self.writer.lock().await;
        let connection = &mut *connection;
        let identity =
            self.query(&queries::IDENTITY).fetch_one(&mut *connection).await.map_err(|e| self.error(e))?;
        let generation =
            self.query(&queries::GENERATION).fetch_one(&mut *connection).await.map_err(|e| self.error(e))?;
        let mut registries = self.load_registries(connection).await?;
        let templates = self.load_versions(connection, &mut registries).await?;
        self.load_collections(connection, &mut registries, templates).await?;
        let registries = registries.into_values().map(|mut registry| {
            registry.count();
            (registry.name.clone(), Arc::new(registry))
        });
        Ok(Loaded {
            identity: self.get(&identity, 0)?,
            snapshot: Snapshot {
                generation: self.get::<i64>(&generation, 0)? as u64,
                registries: registries.collect(),
            },
        })
    }

    async fn load_registries(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<BTreeMap<i64, RegistrySnapshot>, StoreError> {
        let rows =
            self.query(&queries::LOAD_REGISTRIES).fetch_all(connection).await.map_err(|e| self.error(e))?;
        let mut registries = BTreeMap::new();
        for row in rows {
            let id = self.get(&row, 0)?;
            let name = self.parse::<schema::RegistryName>(self.get(&row, 1)?)?;
            let mut registry = RegistrySnapshot::new(id, name, self.get(&row, 2)?);
            registry.branch = self.get(&row, 3)?;
            registry.commit = self.get(&row, 4)?;
            registry.indexed_at = self.get(&row, 5)?;
            registry.title = self.get(&row, 6)?;
            registry.description = self.get(&row, 7)?;
            registry.maintainers = self.json(self.get(&row, 8)?)?;
            registry.links = self.json(self.get(&row, 9)?)?;
            registry.findings = self.json::<Vec<_>>(self.get(&row, 10)?)?.into();
            registry.failure = self.optional_json(self.get(&row, 11)?)?;
            registry.visibility = self.parse(self.get(&row, 12)?)?;
            registries.insert(id, registry);
        }
        Ok(registries)
    }

    async fn load_versions(
        &self,
        connection: &mut SqliteConnection,
        registries: &mut BTreeMap<i64, RegistrySnapshot>,
    ) -> Result<HashMap<i64, Templates>, StoreError> {
        let mut templates = HashMap::<i64, Templates>::new();
        // Most versions of a template read alike: equal texts are kept once.
        let mut known = HashMap::<String, Facts>::new();
        let mut reports = self.load_reports(&mut *connection).await?;
        let mut commits = HashMap::new();
        let mut rows = self.query(&queries::LOAD_VERSIONS).fetch(&mut *connection);
        while let Some(row) = rows.try_next().await.map_err(|e| self.error(e))? {
            let id = self.get(&row, 0)?;
            let Some(registry) = registries.get_mut(&id) else { continue };
            let names = [self.get(&row, 1)?, self.get(&row, 2)?, self.get(&row, 3)?];
            let digest = self.digest(self.get(&row, 4)?)?;
            let report = reports.take(id, names, digest);
            let place = (self.collection(names[0])?, self.parse::<TemplateName>(names[1])?);
            let text = self.get::<String>(&row, 8)?;
            let inspection =
                known.entry(text).or_insert_with_key(|text| Facts::from_stored(text.clone())).clone();
            let kind = self.get::<String>(&row, 5)?;
            let kind = Kind::ALL.into_iter().find(|known| known.as_str() == kind);
            let mut version = VersionSnapshot {
                version: self.parse(names[2])?,
                digest,
                kind: kind.ok_or_else(|| self.damaged("a version is of an unknown kind"))?,
                entry: self.get(&row, 6)?,
                files: self.json::<Vec<_>>(self.get(&row, 7)?)?.into(),
                inspection,
                path: self.get(&row, 9)?,
                tree_id: self.get(&row, 10)?,
                commit: self.get(&row, 11)?,
                findings: self.json(self.get(&row, 13)?)?,
                withdrawn: self.optional_json(self.get(&row, 14)?)?,
                deprecated: self.optional_json(self.get(&row, 15)?)?,
                published_at: self.get(&row, 16)?,
                standing: match self.get::<Option<i64>>(&row, 17)? {
                    Some(at) => Standing::Gone { at },
                    None => Standing::Listed,
                },
                report,
                seen_at: self.get(&row, 18)?,
                introduced: self.introduced(&row, &mut commits)?,
                notes: self.json(self.get(&row, 22)?)?,
                settles_at: self.get(&row, 23)?,
                missing_since: self.get(&row, 24)?,
            };
            let (serves, was_served) = (self.get::<i64>(&row, 12)? != 0, self.get::<i64>(&row, 27)? != 0);
            let templates = templates.entry(id).or_default();
            if self.get::<Option<i64>>(&row, 25)?.is_some_and(|held| held != 0) {
                let held = VersionSnapshot {
                    standing: Standing::Held,
                    findings: self.optional_json(self.get(&row, 26)?)?.unwrap_or_default(),
                    notes: Vec::new(),
                    missing_since: None,
                    ..version.clone()
                };
                apply::restore(registry, templates, place.clone(), held);
            }
            let generation = self.get::<i64>(&row, 28)? as u64;
            if !serves {
                version = apply::replaced(&version);
            }
            if serves || was_served {
                apply::restore(registry, templates, place.clone(), version);
            }
            if let Some(template) = templates.get_mut(&place) {
                template.generation = template.generation.max(generation);
            }
        }
        drop(rows);
        let rows =
            self.query(&queries::LOAD_PURGES).fetch_all(connection).await.map_err(|e| self.error(e))?;
        for row in rows {
            let (of, place, key, purge) = self.purge(&row)?;
            let Some((id, registry)) = registries.iter_mut().find(|(_, one)| one.name.canonical() == of)
            else {
                continue;
            };
            apply::restore_purge(registry, templates.entry(*id).or_default(), place, key, purge);
        }
        Ok(templates)
    }

    /// Who or which commit brought a content; of equal commits one is kept.
    fn introduced(
        &self,
        row: &SqliteRow,
        known: &mut HashMap<String, Arc<Introduced>>,
    ) -> Result<Option<Arc<Introduced>>, StoreError> {
        let commit = self.get::<Option<&str>>(row, 19)?;
        if let Some(known) = commit.and_then(|commit| known.get(commit)) {
            return Ok(Some(known.clone()));
        }
        let author = self.get::<Option<String>>(row, 21)?;
        if commit.is_none() && author.is_none() {
            return Ok(None);
        }
        let introduced = Arc::new(Introduced {
            commit: commit.map(str::to_owned),
            at: self.get::<Option<i64>>(row, 20)?.unwrap_or_default(),
            author: author.unwrap_or_default(),
        });
        if let Some(commit) = commit {
            known.insert(commit.to_owned(), introduced.clone());
        }
        Ok(Some(introduced))
    }

    /// A purge: the canonical name of its registry, its template, what was erased, and why.
    fn purge(&self, row: &SqliteRow) -> Result<(String, Place, (Version, Digest), Purge), StoreError> {
        let place = (self.collection(self.get(row, 1)?)?, self.parse::<TemplateName>(self.get(row, 2)?)?);
        let key = (self.parse(self.get(row, 3)?)?, self.digest(self.get(row, 4)?)?);
        let purge =
            Purge { whole: self.get::<i64>(row, 5)? != 0, reason: self.get(row, 6)?, at: self.get(row, 7)? };
        Ok((self.get(row, 0)?, place, key, purge))
    }

    /// What was erased of a registry that is added again, as templates of which nothing is left.
    pub(crate) async fn purges_of(&self, registry: &mut RegistrySnapshot) -> Result<(), StoreError> {
        let mut connection = self.writer.lock().await;
        let query = self.query(&queries::LOAD_PURGES_OF).bind(registry.name.canonical().to_owned());
        let rows = query.fetch_all(&mut *connection).await.map_err(|e| self.error(e))?;
        let mut templates = Templates::new();
        for row in rows {
            let (_, place, key, purge) = self.purge(&row)?;
            apply::restore_purge(registry, &mut templates, place, key, purge);
        }
        registry.gone.extend(templates.into_iter().map(|(place, template)| (place, Arc::new(template))));
        Ok(())
    }

    async fn load_collections(
        &self,
        connection: &mut SqliteConnection,
        registries: &mut BTreeMap<i64, RegistrySnapshot>,
        templates: HashMap<i64, Templates>,
    ) -> Result<(), StoreError> {
        let mut listed = HashMap::<(i64, Option<CollectionName>), imbl::OrdMap<_, _>>::new();
        for (id, templates) in templates {
            let Some(registry) = registries.get_mut(&id) else { continue };
            for ((collection, name), template) in templates {
                if template.versions.is_empty() {
                    registry.gone.insert((collection, name), Arc::new(template));
                } else {
                    listed.entry((id, collection)).or_default().insert(name, Arc::new(template));
                }
            }
        }
        let rows =
            self.query(&queries::LOAD_COLLECTIONS).fetch_all(connection).await.map_err(|e| self.error(e))?;
        for row in rows {
            let id = self.get(&row, 0)?;
            let Some(registry) = registries.get_mut(&id) else { continue };
            let name = self.collection(self.get(&row, 1)?)?;
            if let (Some(name), Some(alias)) = (&name, self.get::<Option<String>>(&row, 5)?) {
                registry.aliases.insert(self.parse(&alias)?, name.clone());
            }
            let collection = CollectionSnapshot {
                name: name.clone(),
                path: self.get(&row, 2)?,
                title: self.get(&row, 3)?,
                description: self.get(&row, 4)?,
                templates: listed.remove(&(id, name.clone())).unwrap_or_default(),
            };
            registry.collections.insert(name, Arc::new(collection));
        }
        match listed.keys().next() {
            Some((id, name)) => {
                Err(self
                    .damaged(format!("templates of registry {id} are in {name:?}, which is no collection")))
            }
            None => Ok(()),
        }
    }

    pub(super) fn get<'r, T>(&self, row: &'r SqliteRow, column: usize) -> Result<T, StoreError>
    where
        T: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
    {
        row.try_get(column).map_err(|error| self.error(error))
    }

    pub(super) fn digest(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let bytes = bytes.try_into().map_err(|_| self.damaged("a digest is not 32 bytes long"))?;
        Ok(Digest::from_bytes(bytes))
    }

    pub(super) fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        text: &str,
    ) -> Result<T, StoreError> {
        text.parse().map_err(|error| self.damaged(format!("{error}")))
    }

    /// The root collection is the empty text.
    fn collection(&self, text: &str) -> Result<Option<CollectionName>, StoreError> {
        if text.is_empty() { Ok(None) } else { self.parse(text).map(Some) }
    }

    pub(super) fn json<T: DeserializeOwned>(&self, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| self.damaged(error.to_string()))
    }

    fn optional_json<T: DeserializeOwned>(&self, text: Option<&str>) -> Result<Option<T>, StoreError> {
        text.map(|text| self.json(text)).transpose()
    }
}

impl Store {
    /// The templates of which something changed after a generation, by the text of their names; an empty template
    /// stands for the whole registry.
    pub(crate) async fn touched_since(&self, generation: u64) -> Result<Vec<[String; 3]>, StoreError> {
        let mut connection = self.writer.lock().await;
        let query = self.query(&queries::TOUCHED_SINCE).bind(generation as i64);
        let rows = query.fetch_all(&mut *connection).await.map_err(|e| self.error(e))?;
        rows.iter().map(|row| Ok([self.get(row, 0)?, self.get(row, 1)?, self.get(row, 2)?])).collect()
    }
}

/// Bytes as they are kept: digest, size, encoding, content.
pub(crate) type Kept = (Digest, i64, i64, Vec<u8>);

/// A statement that was counted and will be run: reading all bytes, newest first.
pub(crate) struct Warming(super::Query);

impl Store {
    /// The bytes kept under a digest: size, encoding, content as it is kept.
    pub(crate) async fn load_blob(&self, digest: &Digest) -> Result<Option<(i64, i64, Vec<u8>)>, StoreError> {
        let query = self.query(&queries::LOAD_BLOB).bind(digest.as_bytes().to_vec());
        let row = query.fetch_optional(&self.readers).await.map_err(|e| self.error(e))?;
        row.map(|row| Ok((self.get(&row, 0)?, self.get(&row, 1)?, self.get(&row, 2)?))).transpose()
    }

    /// Counts the statement that [`Store::warm_blobs`] runs: that happens in the background, and a count that rises
    /// by itself would tell nobody anything.
    pub(crate) fn warming(&self) -> Warming {
        Warming(self.query(&queries::ALL_BLOBS))
    }

    /// All bytes, newest first.
    pub(crate) fn warm_blobs(&self, Warming(query): Warming) -> BoxStream<'_, Result<Kept, StoreError>> {
        let rows = query.fetch(&self.readers).map_err(|error| self.error(error));
        let read = |row: SqliteRow| {
            Ok((self.digest(self.get(&row, 3)?)?, self.get(&row, 0)?, self.get(&row, 1)?, self.get(&row, 2)?))
        };
        Box::pin(rows.and_then(move |row| std::future::ready(read(row))))
    }
}
