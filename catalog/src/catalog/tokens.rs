//! Tokens: made, revoked, and when each was last used.

use std::sync::Arc;

use schema::Digest;

use super::{Catalog, Inner};
use crate::access::{Grant, Grants, NewToken, Secret, TokenName};
use crate::error::{StoreError, WriteError};

impl Catalog {
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
}

impl Inner {
    pub(super) async fn save_token_uses(&self) -> Result<(), StoreError> {
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
}
