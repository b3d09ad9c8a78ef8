//! `/<reference>`: which page a path that is a full reference leads to.
//!
//! A path is a registry, a template in it, or a collection with a slash behind it; where a collection and a template
//! of the root have one name, the slash tells them apart.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use http::{Method, Request, Uri};
use schema::reference::Selector;
use schema::{CollectionName, Reference, RegistryName};
use wire::ProblemKind;

use crate::access::{Caller, forgery};
use crate::api;
use crate::error::{ApiError, ApiResult};
use crate::front::Peer;
use crate::pages::trying::{self, Sent};
use crate::pages::{feed, not_found, registry, template};
use crate::state::App;
use crate::target::{self, Aspect};

pub(crate) async fn reference(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    caller: Caller,
    request: Request<Body>,
) -> ApiResult {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let raw = path.strip_prefix('/').unwrap_or_default();
    let is_form = parts.method == Method::POST && path.ends_with("/-/try");
    if parts.method != Method::GET && !is_form {
        return Err(api::method_error("GET"));
    }
    let form = if is_form { Some(forgery::read(body, &parts.headers).await?) } else { None };
    let sent = match &form {
        Some(form) => Sent::Form(form),
        None => Sent::Link(parts.uri.query().unwrap_or_default()),
    };
    match answer(&app, &caller, peer, raw, &parts.uri, sent).await {
        Ok(page) => Ok(page),
        Err(error) if error.kind == ProblemKind::Internal => Err(error),
        Err(error) => not_found::error(&app, &caller, path, error),
    }
}

async fn answer(
    app: &Arc<App>,
    caller: &Caller,
    peer: Option<IpAddr>,
    raw: &str,
    uri: &Uri,
    sent: Sent<'_>,
) -> ApiResult {
    let viewer = caller.viewer();
    let target = target::split(raw).ok_or_else(api::templates::not_text)?;
    let snapshot = app.catalog.snapshot();
    if target.aspect.is_none() {
        let path = target.reference.as_ref();
        let plain = path.trim_end_matches('/');
        if let Some(found) =
            plain.parse::<RegistryName>().ok().and_then(|name| snapshot.registry(viewer, &name))
        {
            return registry::registry(app, &snapshot, caller, found, None, uri);
        }
        if let Some((registry, name)) = plain.rsplit_once('/')
            && let (Ok(registry), Ok(name)) =
                (registry.parse::<RegistryName>(), name.parse::<CollectionName>())
            && let Some(found) = snapshot.registry(viewer, &registry)
            && let Some(collection) = found.collection(Some(&name))
            && (path.ends_with('/') || !is_template(&snapshot, viewer, plain))
        {
            return registry::registry(app, &snapshot, caller, found, Some(collection), uri);
        }
    }
    let is_feed = target.aspect == Some(Aspect::Feed);
    if is_feed
        && let Ok(name) = target.reference.parse::<RegistryName>()
        && let Some(found) = snapshot.registry(viewer, &name)
    {
        return feed::feed(app, viewer, &found.name, None).await;
    }
    let reference = target.reference.trim_end_matches('/').parse::<Reference>()?;
    if reference.is_short() {
        // Short references are for tools; a page has one address.
        let detail =
            format!("nothing is served at `/{}`", schema::finding::shown(target.reference.as_bytes()));
        return Err(ApiError::new(ProblemKind::UnknownPath, detail));
    }
    if is_feed {
        let template = snapshot.locate(viewer, &reference, app.home.as_ref())?;
        return feed::feed(app, viewer, &template.location.registry, Some(&template.location)).await;
    }
    let found = snapshot.resolve(viewer, &reference, app.home.as_ref())?;
    match &target.aspect {
        None => template::overview(app, &snapshot, caller, &reference, &found).await,
        Some(Aspect::Try) => trying::answer(app, caller, peer, &reference, &found, sent).await,
        Some(Aspect::FileList) => template::files(app, caller, &reference, &found),
        Some(Aspect::File(path)) => template::file(app, caller, &reference, &found, path).await,
        Some(Aspect::Versions) => template::versions(app, &snapshot, caller, &reference, &found, uri),
        Some(Aspect::History) => template::history(app, &snapshot, caller, &reference, &found, uri),
        Some(_) => Err(ApiError::new(ProblemKind::UnknownPath, "there is no such page of a template")),
    }
}

fn is_template(snapshot: &catalog::Snapshot, viewer: &catalog::Viewer, path: &str) -> bool {
    path.parse::<Reference>().is_ok_and(|reference| {
        reference.selector == Selector::Highest && snapshot.locate(viewer, &reference, None).is_ok()
    })
}
