//! Templates for clients of the Kubernetes API: `kubectl`, `oc`, and whatever speaks like them.
//!
//! Two faces of one thing: the proposal's (`/templates`, `/namespaces/NS/templates`, `/processedtemplates`) and
//! OpenShift's (`/apis/template.openshift.io/v1/…`) with the discovery its clients need. Both are about the default
//! registry and what is stored on this server; below `/k8s/r/<registry>` about that registry alone. A namespace is a
//! collection ([`scope`]).
//!
//! ```text
//! path ─ scope ─┬─ list, watch, object     reading: the snapshot, with the caller's sight
//!               ├─ write ─ submitted       storing: the next version of a hosted registry
//!               └─ process                 objects: in a worker, like everything else
//! ```
//!
//! Errors are a `Status` ([`refusal`]), whoever found them. This module must not know how a template works or how a
//! version is stored; the words of the protocol are in `wire::kubernetes`.

mod body;
mod form;
mod list;
mod merge;
mod object;
mod path;
mod process;
mod refusal;
mod scope;
mod selector;
mod submitted;
mod watch;
mod write;

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::HeaderValue;
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use schema::RegistryName;
use wire::kubernetes::table::RowObject;
use wire::kubernetes::{discovery, openapi};

use crate::access::Caller;
use crate::api;
use crate::api::process::share;
use crate::cache::CachePolicy;
use crate::error::ApiError;
use crate::front::Peer;
use crate::state::App;
use crate::target;
use object::{Objects, json_answer};
use path::{Face, What};
pub(crate) use path::{is_ours, is_processing};
use refusal::{Answer, Refusal};
use scope::Scope;
use selector::Selector;
use watch::Watchers;
use write::Writer;

/// What this interface keeps between requests.
#[derive(Debug)]
pub(crate) struct Kubernetes {
    /// The registry of what is stored here.
    hosted: RegistryName,
    objects: Objects,
    pub(crate) watchers: Arc<Watchers>,
    /// Held by whoever stores.
    storing: tokio::sync::Mutex<()>,
}

impl Kubernetes {
    pub(crate) fn new(hosted: RegistryName) -> Kubernetes {
        Kubernetes {
            hosted,
            objects: Objects::new(),
            watchers: Arc::new(Watchers::new()),
            storing: tokio::sync::Mutex::default(),
        }
    }
}

/// An error of the rest of this server, as these clients read it: a body and its type.
pub(crate) fn said(error: &ApiError) -> Vec<u8> {
    serde_json::to_vec(&refusal::status_of(error)).unwrap_or_default()
}

/// Every path of this interface.
pub(crate) async fn serve(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    caller: Caller,
    request: Request<Body>,
) -> Response {
    // The body is for one task alone, so what is read across tasks is taken out first.
    let (uri, headers) = (request.uri().clone(), request.headers().clone());
    let found = find(&app, &caller, &uri);
    let (scope, what) = match found {
        Ok(found) => found,
        Err(refusal) => return refusal.into_response(),
    };
    let client = share(&caller, peer);
    let answered = match what {
        What::Templates(face, namespace) => match *request.method() {
            Method::GET => {
                read_many(&app, &caller, &client, &scope, face, namespace.as_deref(), (&headers, &uri)).await
            }
            Method::POST => match namespace {
                Some(namespace) => match Writer::new(&app, &caller, &scope, face, &namespace, &uri) {
                    Ok(writer) => writer.create(request).await,
                    Err(refusal) => Err(refusal),
                },
                None => Err(Refusal::method("GET; templates are created in a namespace")),
            },
            _ => Err(Refusal::method("GET and POST")),
        },
        What::Template(face, namespace, name) => match *request.method() {
            Method::GET => read_one(&app, &caller, &scope, (face, &namespace, &name), (&headers, &uri)).await,
            Method::PUT | Method::PATCH | Method::DELETE => {
                match Writer::new(&app, &caller, &scope, face, &namespace, &uri) {
                    Ok(writer) => match *request.method() {
                        Method::PUT => writer.replace(&name, request).await,
                        Method::PATCH => writer.patch(&name, request).await,
                        _ => writer.delete(&name, request).await,
                    },
                    Err(refusal) => Err(refusal),
                }
            }
            _ => Err(Refusal::method("GET, PUT, PATCH and DELETE")),
        },
        What::Processed(face, namespace, name) if request.method() == Method::POST => {
            process::named(&app, peer, &caller, &scope, (face, &namespace, &name), request).await
        }
        What::ProcessedTemplates(face) if request.method() == Method::POST => {
            process::posted(&app, peer, &caller, face, request).await
        }
        What::Processed(..) | What::ProcessedTemplates(_) => Err(Refusal::method("POST")),
        described if request.method() == Method::GET => describe(&app, &caller, &scope, &described, &headers),
        _ => Err(Refusal::method("GET")),
    };
    answered.unwrap_or_else(IntoResponse::into_response)
}

/// What is asked, and of which registries.
fn find<'a>(app: &App, caller: &Caller, uri: &'a Uri) -> Result<(Scope, What<'a>), Refusal> {
    let hosted = &app.kubernetes.hosted;
    let Some(ways) = path::other_registry(uri.path()) else {
        let what = path::parse(uri.path()).ok_or_else(Refusal::no_path)?;
        return Ok((Scope::home(app.home.as_ref().map(|home| &home.registry), hosted), what));
    };
    let snapshot = app.catalog.snapshot();
    for (name, rest) in ways {
        let Some(what) = path::parse(rest) else { continue };
        let name = target::decode(name).and_then(|name| name.parse::<RegistryName>().ok());
        let seen = name.and_then(|name| snapshot.registry(caller.viewer(), &name));
        if let Some(registry) = seen {
            return Ok((Scope::only(registry.name.clone(), hosted), what));
        }
    }
    Err(Refusal::no_path())
}

/// What clients ask before anything else, and namespaces.
fn describe(app: &App, caller: &Caller, scope: &Scope, what: &What<'_>, headers: &HeaderMap) -> Answer {
    let namespaces = || scope.namespaces(&app.catalog.snapshot(), caller.viewer());
    let document = match what {
        What::Version => discovery::version(),
        What::CoreVersions => discovery::core_versions(),
        What::CoreResources => discovery::core_resources(),
        What::Groups => discovery::groups(),
        What::Group => discovery::group(),
        What::Resources => discovery::resources(),
        What::OpenApiV2 if form::wants_protobuf(headers) => {
            let content_type =
                HeaderValue::from_static("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
            return Ok(api::typed(CachePolicy::NoStore, content_type, openapi::v2_binary()));
        }
        What::OpenApiV2 => openapi::v2(),
        What::Namespaces => {
            let metadata = wire::kubernetes::ListMeta {
                resource_version: app.catalog.snapshot().generation.max(1).to_string(),
                ..Default::default()
            };
            let items = namespaces().iter().map(|name| discovery::namespace(name)).collect();
            wire::kubernetes::list("NamespaceList", "v1", &metadata, items)
        }
        What::Namespace(name) => match namespaces().contains(&**name) {
            true => discovery::namespace(name),
            false => {
                let shown = schema::finding::shown(name.as_bytes());
                return Err(Refusal::no_namespace(&shown));
            }
        },
        What::Templates(..) | What::Template(..) | What::Processed(..) | What::ProcessedTemplates(_) => {
            return Err(Refusal::no_path());
        }
    };
    json_answer(StatusCode::OK, &document)
}

async fn read_one(
    app: &App,
    caller: &Caller,
    scope: &Scope,
    (face, namespace, name): (Face, &str, &str),
    (headers, uri): (&HeaderMap, &Uri),
) -> Answer {
    let (form, with) = (form::asked(headers)?, with(uri)?);
    let viewer = caller.viewer();
    let entry = scope.find(&app.catalog.snapshot(), viewer, namespace, name)?;
    let object = object::whole(app, viewer, face, &entry).await?;
    json_answer(StatusCode::OK, &list::formed(object, form, with))
}

async fn read_many(
    app: &Arc<App>,
    caller: &Caller,
    client: &str,
    scope: &Scope,
    face: Face,
    namespace: Option<&str>,
    (headers, uri): (&HeaderMap, &Uri),
) -> Answer {
    let (form, with) = (form::asked(headers)?, with(uri)?);
    let text = |name: &str| api::parameter(uri, name).unwrap_or_default();
    let selector =
        Selector::parse(&text("labelSelector"), &text("fieldSelector")).map_err(Refusal::bad_request)?;
    let namespace = namespace.map(str::to_owned);
    if is_set(uri, "watch")? {
        let tells_beginning = is_set(uri, "sendInitialEvents")?;
        let since = match text("resourceVersion").as_str() {
            "" | "0" => None,
            _ if tells_beginning => None,
            other => Some(other.parse().map_err(|_| {
                let shown = schema::finding::shown(other.as_bytes());
                Refusal::bad_request(format!(
                    "resourceVersion: Invalid value: {shown}: it is what a list or an event said"
                ))
            })?),
        };
        let lasts = number(uri, "timeoutSeconds")?
            .filter(|seconds| *seconds > 0)
            .map(|seconds| Duration::from_secs(seconds as u64));
        let bookmarks = is_set(uri, "allowWatchBookmarks")?;
        let asked =
            watch::Asked { face, namespace, form, with, selector, since, bookmarks, tells_beginning, lasts };
        return watch::answer(app, caller, client, scope, asked).await;
    }
    let limit = number(uri, "limit")?.filter(|limit| *limit > 0);
    let from = match text("continue").as_str() {
        "" => None,
        text => Some(list::Continue::parse(text)?),
    };
    let asked = list::Asked { face, namespace, form, with, selector, limit, from };
    list::answer(app, caller.viewer(), scope, asked).await
}

/// What rows of a table have of their objects.
fn with(uri: &Uri) -> Result<RowObject, Refusal> {
    match api::parameter(uri, "includeObject").as_deref() {
        None | Some("" | "Metadata") => Ok(RowObject::Metadata),
        Some("None") => Ok(RowObject::None),
        Some("Object") => Ok(RowObject::Whole),
        Some(_) => Err(Refusal::bad_request("includeObject is None, Metadata or Object")),
    }
}

fn is_set(uri: &Uri, name: &str) -> Result<bool, Refusal> {
    match api::parameter(uri, name).as_deref() {
        None | Some("" | "0" | "false") => Ok(false),
        Some("1" | "true") => Ok(true),
        Some(_) => Err(Refusal::bad_request(format!("{name} is true or false"))),
    }
}

fn number(uri: &Uri, name: &str) -> Result<Option<usize>, Refusal> {
    match api::parameter(uri, name).as_deref() {
        None | Some("") => Ok(None),
        Some(text) => {
            let number = text.parse().map_err(|_| Refusal::bad_request(format!("{name} is a number")))?;
            Ok(Some(number))
        }
    }
}
