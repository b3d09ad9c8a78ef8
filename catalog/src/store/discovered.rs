//! What hosts of repositories say of registries that were found there.

use schema::RegistryName;

use super::{Store, queries};
use crate::error::StoreError;

/// A registry as the host says it is where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// Its name.
    pub name: RegistryName,
    /// The branch people get without asking for one.
    pub default_branch: String,
    /// What its owner says it is.
    pub description: Option<String>,
    /// How many people starred it.
    pub stars: u64,
    /// When it was first not found any more (seconds since 1970, UTC); what was published stays.
    pub missing_since: Option<i64>,
}

impl Store {
    /// All of them, by name.
    pub(crate) async fn discovered(&self) -> Result<Vec<Discovered>, StoreError> {
        let mut connection = self.writer.lock().await;
        let query = self.query(&queries::LOAD_DISCOVERED);
        let rows = query.fetch_all(&mut *connection).await.map_err(|error| self.error(error))?;
        let read = |row| {
            Ok(Discovered {
                name: self.parse(self.get(row, 0)?)?,
                default_branch: self.get(row, 1)?,
                description: self.get(row, 2)?,
                stars: self.get::<i64>(row, 3)?.unsigned_abs(),
                missing_since: self.get(row, 4)?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Replaces all of them.
    pub(crate) async fn set_discovered(&self, all: &[Discovered]) -> Result<(), StoreError> {
        let mut connection = self.writer.lock().await;
        let mut transaction = self.begin(&mut connection).await?;
        transaction.run(self.query(&queries::CLEAR_DISCOVERED)).await?;
        for one in all {
            let add = self
                .query(&queries::ADD_DISCOVERED)
                .bind(one.name.canonical().to_owned())
                .bind(one.name.to_string())
                .bind(one.default_branch.clone())
                .bind(one.description.clone())
                .bind(i64::try_from(one.stars).unwrap_or(i64::MAX))
                .bind(one.missing_since);
            transaction.run(add).await?;
        }
        transaction.commit().await
    }
}
