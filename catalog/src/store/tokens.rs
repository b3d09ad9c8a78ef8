//! The rows of tokens.

use std::collections::BTreeSet;
use std::sync::Arc;

use schema::{Digest, RegistryName};

use super::write::json;
use super::{Store, queries};
use crate::access::{Grant, Grants, NewToken, TokenName};
use crate::error::StoreError;

impl Store {
    /// Every token.
    pub(crate) async fn load_tokens(&self) -> Result<Grants, StoreError> {
        let mut connection = self.writer.lock().await;
        let query = self.query(&queries::LOAD_TOKENS);
        let rows = query.fetch_all(&mut *connection).await.map_err(|error| self.error(error))?;
        let mut grants = Vec::with_capacity(rows.len());
        for row in rows {
            let registries = self.get::<Option<&str>>(&row, 3)?;
            let registries = registries.map(|text| self.json::<BTreeSet<RegistryName>>(text)).transpose()?;
            let token = NewToken {
                name: self.parse(self.get(&row, 0)?)?,
                scope: self.parse(self.get(&row, 2)?)?,
                registries,
                expires_at: self.get(&row, 5)?,
            };
            let hash = self.digest(self.get(&row, 1)?)?;
            grants.push(Arc::new(Grant::new(token, hash, self.get(&row, 4)?, self.get(&row, 6)?)));
        }
        Ok(Grants::of(grants))
    }

    /// Adds a token; `false` if there is one of that name.
    pub(crate) async fn add_token(
        &self,
        token: &NewToken,
        hash: &Digest,
        at: i64,
    ) -> Result<bool, StoreError> {
        let query = self
            .query(&queries::ADD_TOKEN)
            .bind(token.name.to_string())
            .bind(hash.as_bytes().to_vec())
            .bind(token.scope.as_str())
            .bind(token.registries.as_ref().map(json))
            .bind(at)
            .bind(token.expires_at);
        let mut connection = self.writer.lock().await;
        let done = query.execute(&mut *connection).await.map_err(|error| self.error(error))?;
        Ok(done.rows_affected() > 0)
    }

    /// Removes a token; `false` if there is none of that name.
    pub(crate) async fn remove_token(&self, name: &TokenName) -> Result<bool, StoreError> {
        let query = self.query(&queries::REMOVE_TOKEN).bind(name.to_string());
        let mut connection = self.writer.lock().await;
        let done = query.execute(&mut *connection).await.map_err(|error| self.error(error))?;
        Ok(done.rows_affected() > 0)
    }

    /// Remembers when tokens were last used. One transaction.
    pub(crate) async fn tokens_used(&self, used: &[(TokenName, i64)]) -> Result<(), StoreError> {
        let mut connection = self.writer.lock().await;
        let mut transaction = self.begin(&mut connection).await?;
        for (name, at) in used {
            transaction.run(self.query(&queries::TOKEN_USED).bind(name.to_string()).bind(*at)).await?;
        }
        transaction.commit().await
    }
}
