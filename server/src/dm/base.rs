//! The base path of a request: `r/<registry>[/<collection>]` says where short references go, for a client whose only
//! setting is the address of its service.
//!
//! Nothing in the text says where the name of a registry ends, so it is split against the registries the viewer may
//! see, the longest first; `owner/repository` alone is one at GitHub. A segment behind it that begins a call is that
//! call, any other is a collection.

use catalog::{RegistrySnapshot, Snapshot, Viewer};
use schema::reference::Home;
use schema::{CollectionName, RegistryName};
use wire::ProblemKind;

use super::path::{self, Call};
use crate::error::ApiError;
use crate::state::App;
use crate::target;

/// The host that a name of two segments is at.
const HOST: &str = "github.com";

/// Splits a raw path below `/dm` into where short references go and the call.
///
/// # Errors
/// When it is no call, or names a registry or collection that is not here.
pub(super) fn split(
    app: &App,
    snapshot: &Snapshot,
    viewer: &Viewer,
    raw: &str,
) -> Result<(Option<Home>, Call), ApiError> {
    let Some(rest) = raw.strip_prefix("r/") else {
        let home = app.home_for(snapshot, viewer).cloned();
        return path::parse(raw).map(|call| (home, call)).ok_or_else(no_call);
    };
    let segments = rest.split('/').collect::<Vec<_>>();
    for count in (2..=segments.len()).rev() {
        let (name, rest) = segments.split_at(count);
        let Some(registry) = target::decode(&name.join("/")).and_then(|name| find(snapshot, viewer, &name))
        else {
            continue;
        };
        let home = |collection| Some(Home { registry: registry.name.clone(), collection });
        if let Some(call) = path::parse(&rest.join("/")) {
            return Ok((home(None), call));
        }
        let Some((collection, rest)) = rest.split_first() else { return Err(no_call()) };
        let collection = target::decode(collection).and_then(|name| name.parse::<CollectionName>().ok());
        let Some(collection) = collection.filter(|name| registry.collection(Some(name)).is_some()) else {
            let detail = format!("`{}` has no such collection, and no call is named like it", registry.name);
            return Err(ApiError::new(ProblemKind::UnknownCollection, detail).near(collections(registry)));
        };
        let call = path::parse(&rest.join("/")).ok_or_else(no_call)?;
        return Ok((home(Some(collection)), call));
    }
    let asked = target::decode(rest).unwrap_or_default();
    let detail = format!(
        "no registry here is named like the beginning of `{}`",
        schema::finding::shown(asked.as_bytes())
    );
    Err(ApiError::new(ProblemKind::UnknownRegistry, detail)
        .near(snapshot.visible(viewer).map(|registry| registry.name.to_string())))
}

/// A registry by its name, where `owner/repository` is at GitHub.
pub(super) fn find<'s>(snapshot: &'s Snapshot, viewer: &Viewer, name: &str) -> Option<&'s RegistrySnapshot> {
    let full = match name.split('/').count() {
        2 => format!("{HOST}/{name}"),
        _ => name.to_owned(),
    };
    let name = full.parse::<RegistryName>().ok()?;
    snapshot.registry(viewer, &name).map(|registry| &**registry)
}

fn collections(registry: &RegistrySnapshot) -> impl Iterator<Item = String> {
    registry.collections.keys().flatten().map(ToString::to_string).collect::<Vec<_>>().into_iter()
}

fn no_call() -> ApiError {
    ApiError::new(ProblemKind::UnknownPath, "404 page not found")
}
