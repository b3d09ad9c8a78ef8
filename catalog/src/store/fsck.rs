//! What `fsck` reads and removes: rows as they are, without the assumptions that loading makes.

use super::load::Kept;
use super::{Store, queries};
use crate::error::StoreError;
use crate::fsck::RevisionRow;

impl Store {
    /// What the database itself finds wrong with its pages and foreign keys, in sentences.
    pub(crate) async fn integrity(&self) -> Result<Vec<String>, StoreError> {
        let mut connection = self.writer.lock().await;
        let mut found = Vec::new();
        let rows = self.query(&queries::INTEGRITY).fetch_all(&mut *connection).await;
        for row in rows.map_err(|error| self.error(error))? {
            let line = self.get::<String>(&row, 0)?;
            if line != "ok" {
                found.push(line);
            }
        }
        let rows = self.query(&queries::FOREIGN_KEYS).fetch_all(&mut *connection).await;
        for row in rows.map_err(|error| self.error(error))? {
            let (table, parent) = (self.get::<String>(&row, 0)?, self.get::<String>(&row, 2)?);
            found.push(format!("a row of {table} names a row of {parent} that is not there"));
        }
        Ok(found)
    }

    /// Every content of every version.
    pub(crate) async fn all_revisions(&self) -> Result<Vec<RevisionRow>, StoreError> {
        let mut connection = self.writer.lock().await;
        let rows = self.query(&queries::ALL_REVISIONS).fetch_all(&mut *connection).await;
        let rows = rows.map_err(|error| self.error(error))?;
        rows.iter()
            .map(|row| {
                Ok(RevisionRow {
                    id: self.get(row, 0)?,
                    place: self.get(row, 1)?,
                    digest: self.digest(self.get(row, 2)?)?,
                    files: self.json(self.get(row, 3)?)?,
                    published: self.get::<i64>(row, 4)? != 0,
                })
            })
            .collect()
    }

    /// Versions that point at a content of another version.
    pub(crate) async fn misplaced_versions(&self) -> Result<Vec<String>, StoreError> {
        let mut connection = self.writer.lock().await;
        let rows = self.query(&queries::MISPLACED_VERSIONS).fetch_all(&mut *connection).await;
        rows.map_err(|error| self.error(error))?.iter().map(|row| self.get(row, 0)).collect()
    }

    /// Some bytes, by row, after a row.
    pub(crate) async fn blobs_after(&self, after: i64) -> Result<Vec<(i64, Kept)>, StoreError> {
        let mut connection = self.writer.lock().await;
        let rows = self.query(&queries::BLOBS_AFTER).bind(after).fetch_all(&mut *connection).await;
        let rows = rows.map_err(|error| self.error(error))?;
        rows.iter()
            .map(|row| {
                let digest = self.digest(self.get(row, 1)?)?;
                Ok((self.get(row, 0)?, (digest, self.get(row, 2)?, self.get(row, 3)?, self.get(row, 4)?)))
            })
            .collect()
    }

    /// The change log: sequence, generation, and whether there is such a generation.
    pub(crate) async fn change_order(&self) -> Result<Vec<(i64, i64, bool)>, StoreError> {
        let mut connection = self.writer.lock().await;
        let rows = self.query(&queries::CHANGE_ORDER).fetch_all(&mut *connection).await;
        let rows = rows.map_err(|error| self.error(error))?;
        rows.iter()
            .map(|row| Ok((self.get(row, 0)?, self.get(row, 1)?, self.get::<i64>(row, 2)? != 0)))
            .collect()
    }

    /// Removes contents that were written ahead and never published.
    pub(crate) async fn forget_unpublished(&self) -> Result<(), StoreError> {
        let mut connection = self.writer.lock().await;
        let done = self.query(&queries::FORGET_UNPUBLISHED).execute(&mut *connection).await;
        done.map(drop).map_err(|error| self.error(error))
    }

    /// Removes bytes, by row.
    pub(crate) async fn forget_blobs(&self, rows: &[i64]) -> Result<(), StoreError> {
        self.for_each(&queries::FORGET_BLOB, rows).await
    }

    /// Has the next sync read contents again, by row.
    pub(crate) async fn read_again(&self, rows: &[i64]) -> Result<(), StoreError> {
        self.for_each(&queries::FORGET_TREE, rows).await
    }

    async fn for_each(&self, statement: &'static queries::Statement, rows: &[i64]) -> Result<(), StoreError> {
        let mut connection = self.writer.lock().await;
        let mut transaction = self.begin(&mut connection).await?;
        for row in rows {
            transaction.run(self.query(statement).bind(*row)).await?;
        }
        transaction.commit().await
    }
}
