//! The manager of Deployment Manager, for `dm` as it is: `dm --service http://HOST/dm …`.
//!
//! ```text
//! /dm[/t/<token>][/r/<registry>[/<collection>]]/<call>
//!       access::address    base                 path
//! ```
//!
//! A client of v1.2.1 asks for templates, registries and schemas, has configurations expanded, and records deployments
//! with their manifests. Nothing is sent to a cluster, and what is recorded says so. What differs from the original is
//! in `docs/compatibility/dm-wire.md`.
//!
//! Answers that went well are JSON, whatever is asked for: the client dies of anything else. Errors are short plain
//! text ([`plain`]), 400 where the original has it.
//!
//! This module must not know how templates are expanded (`processing`), nor how deployments are kept (`catalog`).

mod base;
mod configuration;
mod credentials;
mod deployments;
mod expand;
mod layout;
mod path;
mod registries;
mod types;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Extension, Router};
use catalog::{DeploymentLimits, Owner, Scope, Snapshot};
use http::header::{ALLOW, CONTENT_TYPE, HeaderMap, ORIGIN, RETRY_AFTER};
use http::{HeaderValue, Method, Request, StatusCode};
use schema::reference::Home;
use serde::Serialize;
use wire::ProblemKind;

use crate::access::{Caller, require_somewhere};
use crate::api;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::front::Peer;
use crate::state::App;
use crate::time;
use credentials::Credentials;
use path::Call;

/// Time between two looks for deployments that are over.
const FORGETTING: Duration = Duration::from_secs(60);
/// What a browser sends with whatever a page had it send, and no other client.
const FETCH_SITE: &str = "sec-fetch-site";

/// What is kept for clients beside the catalogue, and what they may.
pub(crate) struct Manager {
    /// Whether only this machine reaches the server: then whoever asks may record.
    is_local: bool,
    limits: DeploymentLimits,
    credentials: Credentials,
}

impl Manager {
    pub(crate) fn new(is_local: bool, limits: DeploymentLimits) -> Manager {
        Manager { is_local, limits, credentials: Credentials::new(&limits) }
    }
}

/// Forgets what is over for as long as it is polled.
pub(crate) async fn keep_forgetting(app: Arc<App>) {
    loop {
        tokio::time::sleep(FORGETTING).await;
        match app.catalog.forget_deployments(time::now_exactly()).await {
            Ok(0) => {}
            Ok(count) => tracing::debug!(count, "deployments were over and are forgotten"),
            Err(error) => {
                tracing::warn!(%error, "deployments that are over were not forgotten; it is tried again");
            }
        }
    }
}

/// Everything below `/dm`.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route("/dm", any(answer)).route("/dm/", any(answer)).route("/dm/{*rest}", any(answer))
}

/// One request of a client: who asks, from where, on which base path.
struct Asking<'a> {
    app: &'a App,
    snapshot: &'a Snapshot,
    caller: &'a Caller,
    peer: Option<IpAddr>,
    headers: &'a HeaderMap,
    /// Where short references go.
    home: Option<Home>,
    now: i64,
}

impl Asking<'_> {
    /// Whose deployments are shown; nobody's to somebody who could not have recorded any.
    fn reader(&self) -> Option<Owner> {
        match self.caller.grant() {
            Some(grant) => Some(Owner::of(grant)),
            None => self.app.dm.is_local.then(Owner::local),
        }
    }

    /// Whose deployments are changed.
    ///
    /// # Errors
    /// Without a token that allows it, unless only this machine reaches the server; and where a page had a browser
    /// ask, for pages of strangers reach this machine too.
    fn writer(&self) -> Result<Owner, ApiError> {
        if self.caller.is_anybody() {
            let by_page = self.headers.contains_key(ORIGIN) || self.headers.contains_key(FETCH_SITE);
            if self.app.dm.is_local && !by_page {
                return Ok(Owner::local());
            }
            let detail = "recording needs a token with the scope `write` on this server";
            return Err(ApiError::new(ProblemKind::Unauthenticated, detail)
                .hint("put it into the service's address: dm --service URL/dm/t/TOKEN"));
        }
        require_somewhere(self.caller, Scope::Write).map(Owner::of)
    }
}

async fn answer(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    caller: Caller,
    request: Request<Body>,
) -> ApiResult {
    let (parts, body) = request.into_parts();
    let raw = parts.uri.path().strip_prefix("/dm").unwrap_or_default();
    let snapshot = app.catalog.snapshot();
    let (home, call) = base::split(&app, &snapshot, caller.viewer(), raw.trim_start_matches('/'))?;
    let asking = Asking {
        app: &app,
        snapshot: &snapshot,
        caller: &caller,
        peer,
        headers: &parts.headers,
        home,
        now: time::now_exactly(),
    };
    match (&parts.method, call) {
        (&Method::GET, Call::Health) => {
            let text = HeaderValue::from_static("text/plain; charset=UTF-8");
            Ok(api::typed(CachePolicy::NoStore, text, "OK"))
        }
        (&Method::POST, Call::Expand) => expand::expand(&asking, body).await,
        (&Method::POST, Call::Expander) => expand::expand_as_text(&asking, body).await,
        (&Method::GET, Call::Deployments) => deployments::list(&asking).await,
        (&Method::POST, Call::Deployments) => deployments::create(&asking, body).await,
        (&Method::GET, Call::Deployment(name)) => deployments::get(&asking, &name).await,
        (&Method::PUT, Call::Deployment(name)) => deployments::update(&asking, &name, body).await,
        (&Method::DELETE, Call::Deployment(name)) => deployments::delete(&asking, &name).await,
        (&Method::GET, Call::Manifests(name)) => deployments::manifests(&asking, &name).await,
        (&Method::GET, Call::Manifest(name, manifest)) => {
            deployments::manifest(&asking, &name, &manifest).await
        }
        (&Method::GET, Call::Objects(name, manifest)) => {
            deployments::objects(&asking, &name, &manifest).await
        }
        (&Method::GET, Call::Types) => types::list(&asking).await,
        (&Method::GET, Call::Instances(name)) => types::instances(&asking, &name).await,
        (&Method::GET, Call::Metadata(name)) => types::metadata(&asking, &name).await,
        (&Method::GET, Call::RegistryOf(name)) => types::registry_of(&asking, &name).await,
        (&Method::GET, Call::Registries) => registries::list(&asking).await,
        (&Method::GET, Call::Registry(name)) => registries::get(&asking, &name).await,
        (&Method::POST, Call::Registry(name)) => registries::create(&asking, &name, body).await,
        (&Method::GET, Call::RegistryTypes { registry, regex }) => {
            let regex = regex.or_else(|| api::parameter(&parts.uri, "regex"));
            registries::types(&asking, &registry, regex.as_deref()).await
        }
        (&Method::GET, Call::RegistryType(registry, of)) => {
            registries::locations(&asking, &registry, &of).await
        }
        (&Method::GET, Call::Download(registry)) => {
            let file = api::parameter(&parts.uri, "file");
            registries::download(&asking, &registry, file.as_deref()).await
        }
        (&Method::GET, Call::Credential(name)) => credentials::get(&asking, &name),
        (&Method::POST, Call::Credential(name)) => credentials::set(&asking, &name, body).await,
        (_, call) => Err(api::method_error(methods(&call))),
    }
}

/// The methods a call answers.
const fn methods(call: &Call) -> &'static str {
    match call {
        Call::Expand | Call::Expander => "POST",
        Call::Deployments | Call::Registry(_) | Call::Credential(_) => "GET, POST",
        Call::Deployment(_) => "GET, PUT, DELETE",
        _ => "GET",
    }
}

/// An answer that went well: always JSON, typed as the original types it.
fn said(status: StatusCode, policy: CachePolicy, value: &impl Serialize) -> ApiResult {
    let body = serde_json::to_vec(value).map_err(ApiError::internal)?;
    let mut response = api::typed(policy, HeaderValue::from_static("application/json; charset=UTF-8"), body);
    *response.status_mut() = status;
    Ok(response)
}

/// A list as Go writes one: null if nothing is in it.
fn list_or_null<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}

/// An error as clients show it: what happened, every place, and the way out, a line each. What nobody has is 400, as in
/// the original; what a caller may not do, and what is our own fault, keeps its status.
pub(crate) fn plain(error: &ApiError) -> Response {
    let status = match error.status() {
        StatusCode::NOT_FOUND if error.kind == ProblemKind::UnknownPath => StatusCode::NOT_FOUND,
        StatusCode::NOT_FOUND
        | StatusCode::GONE
        | StatusCode::CONFLICT
        | StatusCode::UNPROCESSABLE_ENTITY
        | StatusCode::UNSUPPORTED_MEDIA_TYPE => StatusCode::BAD_REQUEST,
        other => other,
    };
    let mut lines = vec![error.detail.clone()];
    for detail in &error.errors {
        let place = match (&detail.file, detail.line) {
            (Some(file), Some(line)) => format!("{file}:{line}:{}", detail.column.unwrap_or(1)),
            (Some(file), None) => file.clone(),
            (None, _) => String::new(),
        };
        match (error.detail.contains(&detail.message), place.is_empty()) {
            (true, true) => {}
            (true, false) => lines.push(format!("at {place}")),
            (false, true) => lines.push(detail.message.clone()),
            (false, false) => lines.push(format!("{place}: {}", detail.message)),
        }
        // What there is in its place is said below.
        let hint = detail.hint.iter().filter(|hint| error.near.is_empty() || !hint.starts_with("There is "));
        lines.extend(hint.map(|hint| format!("hint: {hint}")));
    }
    if !error.versions.is_empty() {
        lines.push(format!("versions: {}", error.versions.join(", ")));
    }
    if !error.near.is_empty() {
        lines.push(format!("did you mean: {}", error.near.join(", ")));
    }
    lines.extend(error.hint.iter().map(|hint| format!("hint: {hint}")));
    let mut response = (status, lines.join("\n") + "\n").into_response();
    let headers = response.headers_mut();
    headers.extend(error.headers.iter().cloned());
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if let Some(wait) = error.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
    }
    if let Some(allowed) = error.part.filter(|_| error.kind == ProblemKind::MethodNotAllowed) {
        headers.insert(ALLOW, HeaderValue::from_static(allowed));
    }
    response
}

/// The error for what a client sent.
fn wrong(detail: impl Into<String>) -> ApiError {
    ApiError::new(ProblemKind::InvalidBody, detail)
}
