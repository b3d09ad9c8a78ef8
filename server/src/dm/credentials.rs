//! Credentials that clients set for registries: taken, and thrown away at once.
//!
//! Registries are read with the credentials the operator gave, never with those of a client. What is kept, for a while
//! and in memory, is which parts of a credential were given, so that a client that asks sees that it was taken; no
//! secret is kept, said or logged.

use std::time::Duration;

use axum::body::Body;
use catalog::{DeploymentLimits, Owner};
use http::StatusCode;
use moka::sync::Cache;
use wire::ProblemKind;
use wire::dm::Credential;

use super::{Asking, configuration, said, wrong};
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};

/// What was said of credentials, by whose they are and name.
pub(super) struct Credentials(Cache<(Owner, String), Credential>);

impl Credentials {
    pub(super) fn new(limits: &DeploymentLimits) -> Credentials {
        let lifetime = Duration::from_secs(limits.lifetime.into());
        Credentials(Cache::builder().max_capacity(limits.all()).time_to_live(lifetime).build())
    }
}

pub(super) fn get(asking: &Asking<'_>, name: &str) -> ApiResult {
    let found = asking.reader().and_then(|owner| asking.app.dm.credentials.0.get(&(owner, name.to_owned())));
    let credential = found.ok_or_else(|| {
        let name = schema::finding::shown(name.as_bytes());
        ApiError::new(ProblemKind::UnknownToken, format!("no such credential : {name}"))
    })?;
    said(StatusCode::OK, CachePolicy::NoStore, &credential)
}

pub(super) async fn set(asking: &Asking<'_>, name: &str, body: Body) -> ApiResult {
    let owner = asking.writer()?;
    let value = configuration::document(asking, body, "a credential").await?;
    // What is wrong with it is not repeated: it may be in the very secret.
    let credential = serde_json::from_value::<Credential>(value)
        .map_err(|_| {
            wrong("the body is no credential: `apitoken`, `basicauth` and `serviceaccount` are known")
        })?
        .redacted();
    asking.app.dm.credentials.0.insert((owner, name.to_owned()), credential.clone());
    said(StatusCode::OK, CachePolicy::NoStore, &credential)
}
