//! Reading the change log.

use schema::Digest;
use sqlx::sqlite::SqliteRow;

use super::{Query, Store, queries};
use crate::error::StoreError;

/// A row of the change log: names are texts, as they were when it was written.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) sequence: u64,
    /// The canonical name.
    pub(crate) registry: String,
    /// Empty for the root.
    pub(crate) collection: String,
    /// Empty for what happened to the registry as a whole.
    pub(crate) template: String,
    pub(crate) version: String,
    pub(crate) what: String,
    pub(crate) digest: Option<Digest>,
    pub(crate) at: i64,
    pub(crate) detail: Option<String>,
}

impl Store {
    /// What happened after a place in the log, oldest first.
    pub(crate) async fn changes_since(&self, sequence: u64, limit: usize) -> Result<Vec<Logged>, StoreError> {
        let after = i64::try_from(sequence).unwrap_or(i64::MAX);
        self.logged(self.query(&queries::CHANGES_SINCE).bind(after).bind(limit as i64)).await
    }

    /// What happened to a registry, by its canonical name, or to one of its templates, newest first. Leaves out what
    /// only changed what is said of versions.
    pub(crate) async fn changes_of(
        &self,
        registry: &str,
        template: Option<[String; 2]>,
        limit: usize,
    ) -> Result<Vec<Logged>, StoreError> {
        let query = match template {
            None => self.query(&queries::CHANGES_OF_REGISTRY).bind(registry.to_owned()),
            Some([collection, template]) => {
                let query = self.query(&queries::CHANGES_OF_TEMPLATE).bind(registry.to_owned());
                query.bind(collection).bind(template)
            }
        };
        self.logged(query.bind(limit as i64)).await
    }

    /// When a generation was made, if nothing happened since to any of these registries as a whole (removed, hidden,
    /// shown): what became of its templates then is all in their own generations.
    pub(crate) async fn undisrupted_since(
        &self,
        generation: u64,
        registries: &[String],
    ) -> Result<Option<i64>, StoreError> {
        let Ok(generation) = i64::try_from(generation) else { return Ok(None) };
        let made = self.query(&queries::GENERATION_AT).bind(generation).fetch_optional(&self.readers).await;
        let Some(made) = made.map_err(|error| self.error(error))? else { return Ok(None) };
        for registry in registries {
            let query = self.query(&queries::DISRUPTED_SINCE).bind(generation).bind(registry.clone());
            let row = query.fetch_one(&self.readers).await.map_err(|error| self.error(error))?;
            if self.get::<i64>(&row, 0)? > 0 {
                return Ok(None);
            }
        }
        self.get(&made, 0).map(Some)
    }

    async fn logged(&self, query: Query) -> Result<Vec<Logged>, StoreError> {
        let rows = query.fetch_all(&self.readers).await.map_err(|error| self.error(error))?;
        let read = |row: &SqliteRow| {
            Ok(Logged {
                sequence: self.get::<i64>(row, 0)? as u64,
                registry: self.get(row, 1)?,
                collection: self.get(row, 2)?,
                template: self.get(row, 3)?,
                version: self.get(row, 4)?,
                what: self.get(row, 5)?,
                digest: self.get::<Option<&[u8]>>(row, 6)?.map(|bytes| self.digest(bytes)).transpose()?,
                at: self.get(row, 7)?,
                detail: self.get(row, 8)?,
            })
        };
        rows.iter().map(read).collect()
    }
}
