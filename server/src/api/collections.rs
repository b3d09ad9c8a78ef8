//! `/api/v1/collections`, and the walk through collections and templates that their lists share.

use std::ops::Bound;
use std::sync::Arc;

use axum::extract::State;
use catalog::{CollectionSnapshot, RegistrySnapshot, Snapshot, TemplateSnapshot, Viewer};
use http::Uri;
use schema::{CollectionName, RegistryName, TemplateName};
use wire::ProblemKind;

use crate::access::Caller;
use crate::api::paging::{self, Page};
use crate::api::{self, registries};
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::{target, view};

/// What a list of collections or templates is narrowed to.
#[derive(Debug, Default)]
pub(crate) struct Narrowed {
    registry: Option<RegistryName>,
    /// `Some(None)` is the root.
    collection: Option<Option<CollectionName>>,
}

impl Narrowed {
    /// Reads `registry` and `collection`. A registry that the caller may not see is one that is not there.
    pub(crate) fn asked(uri: &Uri, snapshot: &Snapshot, caller: &Caller) -> Result<Narrowed, ApiError> {
        let registry = match api::parameter(uri, "registry") {
            Some(name) => Some(registries::find(snapshot, caller, &name)?.name.clone()),
            None => None,
        };
        let collection = match api::parameter(uri, "collection").as_deref() {
            None => None,
            Some("/") => Some(None),
            Some(name) => Some(Some(name.parse::<CollectionName>().map_err(|error| {
                ApiError::new(ProblemKind::InvalidQuery, error.to_string()).part("collection")
            })?)),
        };
        Ok(Narrowed { registry, collection })
    }

    fn takes(&self, registry: &RegistrySnapshot) -> bool {
        self.registry.as_ref().is_none_or(|name| *name == registry.name)
    }

    /// A collection by its name, or by the directory name it replaced.
    fn collection(&self, registry: &RegistrySnapshot, collection: &CollectionSnapshot) -> bool {
        let Some(asked) = &self.collection else { return true };
        asked == &collection.name
            || asked.as_ref().and_then(|asked| registry.aliases.get(asked)) == collection.name.as_ref()
                && asked.is_some()
                && collection.name.is_some()
    }
}

/// A place in a list of collections: `<registry>:<collection>`, nothing behind the colon for the root.
pub(crate) type Place = (RegistryName, Option<CollectionName>);

pub(crate) fn said_place(registry: &RegistryName, collection: Option<&CollectionName>) -> String {
    format!("{registry}:{}", collection.map_or("", CollectionName::as_str))
}

/// A place, with what stands behind a further colon.
pub(crate) fn read_place(cursor: &str) -> Option<(Place, Option<&str>)> {
    let (registry, rest) = cursor.split_once(':')?;
    let (collection, rest) = match rest.split_once(':') {
        Some((collection, rest)) => (collection, Some(rest)),
        None => (rest, None),
    };
    let collection = if collection.is_empty() { None } else { Some(collection.parse().ok()?) };
    Some(((registry.parse().ok()?, collection), rest))
}

/// The collections a viewer may see, in order, beginning with the place itself.
pub(crate) fn collections<'a>(
    snapshot: &'a Snapshot,
    viewer: &'a Viewer,
    narrowed: &'a Narrowed,
    from: Option<&'a Place>,
) -> impl Iterator<Item = (&'a Arc<RegistrySnapshot>, &'a Arc<CollectionSnapshot>)> {
    let first = match from {
        Some((registry, _)) => Bound::Included(registry),
        None => Bound::Unbounded,
    };
    let registries =
        snapshot.registries.range::<_, RegistryName>((first, Bound::Unbounded)).map(|(_, registry)| registry);
    let registries = registries.filter(move |one| one.visible_to(viewer) && narrowed.takes(one));
    registries.flat_map(move |registry| {
        let first = match from {
            Some((name, collection)) if *name == registry.name => Bound::Included(collection),
            _ => Bound::Unbounded,
        };
        let collections = registry.collections.range::<_, Option<CollectionName>>((first, Bound::Unbounded));
        collections
            .map(move |(_, collection)| (registry, collection))
            .filter(|(registry, collection)| narrowed.collection(registry, collection))
    })
}

/// The templates a viewer may see, in order, from behind a place on.
pub(crate) fn templates<'a>(
    snapshot: &'a Snapshot,
    viewer: &'a Viewer,
    narrowed: &'a Narrowed,
    after: Option<&'a (Place, TemplateName)>,
) -> impl Iterator<Item = &'a Arc<TemplateSnapshot>> {
    let from = after.map(|(place, _)| place);
    collections(snapshot, viewer, narrowed, from).flat_map(move |(registry, collection)| {
        let first = match after {
            Some(((name, of), template)) if *name == registry.name && *of == collection.name => {
                Bound::Excluded(template)
            }
            _ => Bound::Unbounded,
        };
        collection.templates.range::<_, TemplateName>((first, Bound::Unbounded)).map(|(_, template)| template)
    })
}

/// The collections of the registries of this server
#[utoipa::path(
    get, path = "/api/v1/collections", tag = "registries", operation_id = "list_collections",
    params(
        ("registry" = Option<String>, Query, description = "Only those of this registry", example = "github.com/acme/templates"),
        ("limit" = Option<usize>, Query, description = "How many; 100 if not given, 1,000 at most", minimum = 1),
        ("cursor" = Option<String>, Query, description = "`next` of the answer before"),
    ),
    responses(
        (status = 200, description = "The collections, sorted by registry and name", body = wire::registries::CollectionList),
        (status = 404, description = "No registry of that name is here", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_collections(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let snapshot = app.catalog.snapshot();
    let page = Page::asked(&uri)?;
    let narrowed = Narrowed { collection: None, ..Narrowed::asked(&uri, &snapshot, &caller)? };
    let after = page.after(|cursor| match read_place(cursor)? {
        (place, None) => Some(place),
        (_, Some(_)) => None,
    })?;
    let all = collections(&snapshot, caller.viewer(), &narrowed, after.as_ref());
    let all = all.filter(|(registry, one)| {
        after.as_ref().is_none_or(|(name, of)| *name != registry.name || *of != one.name)
    });
    let (found, next) =
        page.cut(all, |(registry, collection)| said_place(&registry.name, collection.name.as_ref()));
    let said = found.into_iter().map(|(registry, one)| view::collection(app.urls(), &registry.name, one));
    let list = wire::registries::CollectionList { collections: said.collect(), next };
    paging::answer(
        &app.base,
        &uri,
        CachePolicy::Revalidate,
        &list,
        list.next.as_deref().map(|next| ("cursor", next)),
    )
}

/// A collection, or the root of a registry
#[utoipa::path(
    get, path = "/api/v1/collections/{name}", tag = "registries", operation_id = "get_collection",
    params(("name" = String, Path, description = "`<registry>/<collection>`, or the registry alone for its root; its slashes stay slashes", example = "github.com/acme/templates/web")),
    responses(
        (status = 200, description = "The collection", body = wire::registries::Collection),
        (status = 404, description = "No collection of that name is here", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_collection(State(app): State<Arc<App>>, caller: Caller, uri: Uri) -> ApiResult {
    let raw = uri.path().strip_prefix("/api/v1/collections/").unwrap_or_default();
    let asked = target::decode(raw).ok_or_else(api::templates::not_text)?;
    let snapshot = app.catalog.snapshot();
    let registry = |name: &str| {
        let name = name.parse::<RegistryName>().ok()?;
        snapshot.registry(caller.viewer(), &name).cloned()
    };
    // The longest name first, as references are read.
    let (registry, name) = match (registry(&asked), asked.rsplit_once('/')) {
        (Some(found), _) => (found, None),
        (None, Some((before, last))) => match registry(before) {
            Some(found) => (found, Some(last.to_owned())),
            None => return Err(registries::unknown(&snapshot, &caller, before)),
        },
        (None, None) => return Err(registries::unknown(&snapshot, &caller, &asked)),
    };
    let unknown = || {
        let shown = schema::finding::shown(name.as_deref().unwrap_or("the root").as_bytes());
        ApiError::new(
            ProblemKind::UnknownCollection,
            format!("{} has no collection `{shown}`", registry.name),
        )
        .part("collection")
        .near(registry.collections.keys().flatten().map(ToString::to_string))
    };
    let parsed = match &name {
        None => None,
        Some(name) => Some(name.parse::<CollectionName>().map_err(|_| unknown())?),
    };
    let found = registry.collection(parsed.as_ref()).ok_or_else(unknown)?;
    api::json(CachePolicy::Revalidate, &view::collection(app.urls(), &registry.name, found))
}
