//! Every route, by group. A request passes the front (`front.rs`) first: it answers the hot routes from memory and
//! hands everything else here. Handlers are named for what they answer; each group is a module.

use std::sync::Arc;

use axum::Router;
use axum::routing::{MethodRouter, any, delete, get, post};

use crate::error::ApiError;
use crate::limits::Budget;
use crate::state::App;
use crate::{api, dm, kubernetes, pages, repository, target, webhooks};

/// Groups of routes, as the metrics tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Resolve,
    File,
    Content,
    Template,
    Process,
    Search,
    Registries,
    Tokens,
    Describe,
    Operations,
    Webhook,
    Dm,
    Repository,
    Kubernetes,
    Asset,
    Page,
}

impl Route {
    /// Every group, in the order of their numbers.
    pub(crate) const ALL: [Route; 16] = [
        Route::Resolve,
        Route::File,
        Route::Content,
        Route::Template,
        Route::Process,
        Route::Search,
        Route::Registries,
        Route::Tokens,
        Route::Describe,
        Route::Operations,
        Route::Webhook,
        Route::Dm,
        Route::Repository,
        Route::Kubernetes,
        Route::Asset,
        Route::Page,
    ];

    /// The label in metrics.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Route::Resolve => "resolve",
            Route::File => "file",
            Route::Content => "content",
            Route::Template => "template",
            Route::Process => "process",
            Route::Search => "search",
            Route::Registries => "registries",
            Route::Tokens => "tokens",
            Route::Describe => "describe",
            Route::Operations => "operations",
            Route::Webhook => "webhook",
            Route::Dm => "dm",
            Route::Repository => "repository",
            Route::Kubernetes => "kubernetes",
            Route::Asset => "asset",
            Route::Page => "page",
        }
    }

    /// The group a path belongs to, by its beginning. The hot ones come first.
    pub(crate) fn of(path: &str) -> Route {
        let Some(rest) = path.strip_prefix("/api/v1/") else {
            return match path {
                "/healthz" | "/readyz" | "/metrics" => Route::Operations,
                _ if path.ends_with("/-/try") => Route::Process,
                _ if path.starts_with("/assets/") => Route::Asset,
                _ if path.starts_with("/webhooks/") => Route::Webhook,
                _ if path == "/dm" || path.starts_with("/dm/") => Route::Dm,
                _ if path.starts_with("/repos/") || path.starts_with("/raw/") => Route::Repository,
                _ if kubernetes::is_ours(path) => Route::Kubernetes,
                _ => Route::Page,
            };
        };
        if rest == "resolve" {
            Route::Resolve
        } else if let Some(rest) = rest.strip_prefix("templates/") {
            match rest.split_once("/-/") {
                Some((_, aspect)) if aspect.len() > "files/".len() && aspect.starts_with("files/") => {
                    Route::File
                }
                Some((_, target::ARCHIVE)) => Route::File,
                Some((_, "process")) => Route::Process,
                _ => Route::Template,
            }
        } else if rest.starts_with("content/") {
            Route::Content
        } else if rest == "search" {
            Route::Search
        } else if rest == "templates" {
            Route::Template
        } else if rest.starts_with("registries") || rest.starts_with("collections") {
            Route::Registries
        } else if rest.starts_with("tokens") {
            Route::Tokens
        } else if kubernetes::is_ours(path) {
            Route::Kubernetes
        } else {
            Route::Describe
        }
    }

    /// Which budget of its client a request for a path of this group is counted in; none for what operators need most
    /// when there are too many requests, and for webhooks, which count for themselves.
    pub(crate) fn budget(self, path: &str) -> Option<Budget> {
        match self {
            Route::Operations | Route::Webhook | Route::Asset => None,
            Route::Search => Some(Budget::Search),
            Route::Page if path == "/search" => Some(Budget::Search),
            Route::Process => Some(Budget::Process),
            // What expands, and what reads manifests: all of it costs about as much.
            Route::Dm if path.ends_with("/expand") || path.contains("/deployments") => Some(Budget::Process),
            Route::Kubernetes if kubernetes::is_processing(path) => Some(Budget::Process),
            _ => Some(Budget::Requests),
        }
    }

    /// Whether answers of this group are kept ready and given without the router.
    pub(crate) const fn is_hot(self) -> bool {
        matches!(self, Route::Resolve | Route::File | Route::Content)
    }
}

/// The routes that are not hot. Who asks stands beside each request; `access` says how a handler takes it.
pub(crate) fn routes(app: Arc<App>) -> Router {
    Router::new()
        // Tools. Answered before this router: GET /api/v1/resolve (api::resolve),
        // GET /api/v1/templates/<reference>/-/files/<path> and GET /api/v1/content/<registry>/<digest>/<path> (api::files).
        .route("/api/v1/search", only_get(get(api::search::search_templates)))
        .route(
            "/api/v1/registries",
            get(api::registries::list_registries)
                .post(api::registries::add_registry)
                .fallback(api::method_not_allowed),
        )
        .route(
            "/api/v1/registries/{*name}",
            get(api::registries::get_registry)
                // <name>/-/accept, <name>/-/purge
                .post(api::decisions::decide)
                .patch(api::registries::change_registry)
                .delete(api::registries::remove_registry)
                .fallback(api::registries::other_method),
        )
        .route("/api/v1/collections", only_get(get(api::collections::list_collections)))
        .route("/api/v1/collections/{*name}", only_get(get(api::collections::get_collection)))
        .route("/api/v1/changes", only_get(get(api::history::list_changes)))
        .route("/api/v1/templates", only_get(get(api::templates::list_templates)))
        // GET <reference>, and <reference>/-/ with files/, parameters, versions, history, renovate; POST <reference>/-/process
        .route(
            "/api/v1/templates/{*reference}",
            get(api::templates::get_template)
                .post(api::process::process_template)
                .fallback(api::templates::other_method),
        )
        .route(
            "/api/v1/tokens",
            get(api::tokens::list_tokens).post(api::tokens::create_token).fallback(api::method_not_allowed),
        )
        .route(
            "/api/v1/tokens/{*name}",
            delete(api::tokens::revoke_token)
                .fallback(|| async { Err::<(), ApiError>(api::method_error("DELETE")) }),
        )
        .route("/api/v1/status", only_get(get(api::operations::get_status)))
        .route("/api/v1/openapi.json", only_get(get(api::openapi::get_openapi)))
        .route("/api/{*rest}", get(api::unknown_path).fallback(api::unknown_path))
        // Clients of the Kubernetes API. What is not theirs below /api is answered above.
        .merge(kubernetes_routes())
        // Operators.
        .route("/healthz", only_get(get(api::operations::healthz)))
        .route("/readyz", only_get(get(api::operations::readyz)))
        .route("/metrics", only_get(get(api::operations::metrics)))
        // Hosts of repositories.
        .route("/webhooks/github", only_post(post(webhooks::receive_github)))
        .route("/webhooks/gitlab", only_post(post(webhooks::receive_gitlab)))
        .route("/webhooks/gitea", only_post(post(webhooks::receive_gitea)))
        .route("/webhooks/{*rest}", get(api::unknown_path).fallback(api::unknown_path))
        // Clients of Deployment Manager.
        .merge(dm::routes())
        .merge(repository::routes())
        // People.
        .route("/", get(pages::home::home))
        .route("/search", get(pages::search::search))
        .route("/registries", get(pages::registries::registries))
        .route("/status", get(pages::status::status))
        .route("/login", get(pages::login::form).post(pages::login::login).fallback(api::method_not_allowed))
        .route(
            "/logout",
            post(pages::login::logout).fallback(|| async { Err::<(), ApiError>(api::method_error("POST")) }),
        )
        .route("/docs", get(pages::docs::index))
        .route("/docs/errors/{id}", get(pages::docs::error))
        .route("/docs/{*page}", get(pages::docs::page))
        .route("/assets/{name}", get(pages::asset))
        .route("/favicon.ico", get(pages::favicon))
        .route("/robots.txt", get(pages::robots))
        // <registry>, <registry>/<collection>/, <reference>, <reference>/-/files/…; of both, /-/feed.atom
        .fallback(pages::reference::reference)
        .with_state(app)
}

/// Every path of the Kubernetes API, which tells its own apart: names in it hold what a pattern would take for its own.
fn kubernetes_routes() -> Router<Arc<App>> {
    let paths = [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v1/namespaces",
        "/api/v1/namespaces/{*rest}",
        "/apis",
        "/apis/{*rest}",
        "/version",
        "/version/{*rest}",
        "/openapi",
        "/openapi/{*rest}",
        "/templates",
        "/templates/",
        "/templates/{*rest}",
        "/processedtemplates",
        "/processedtemplates/{*rest}",
        "/namespaces",
        "/namespaces/{*rest}",
        "/k8s",
        "/k8s/{*rest}",
    ];
    paths.into_iter().fold(Router::new(), |router, path| router.route(path, any(kubernetes::serve)))
}

/// A route that answers GET, and HEAD, which the front turns into GET.
fn only_get(route: MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>> {
    route.fallback(|| async { Err::<(), ApiError>(api::method_error("GET")) })
}

/// A route that answers POST.
fn only_post(route: MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>> {
    route.fallback(|| async { Err::<(), ApiError>(api::method_error("POST")) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every route for tools is described, and nothing else is: the routes of the router, those in front of it, and
    /// what stands behind names that have slashes.
    #[test]
    fn every_route_is_described_and_every_description_has_a_route() {
        let source = include_str!("router.rs").split("#[cfg(test)]").next().unwrap();
        let routes = source.split(".route(").skip(1).filter_map(|rest| rest.split('"').nth(1));
        let for_tools = ["/api/v1/", "/healthz", "/readyz", "/metrics", "/webhooks/"];
        let routes = routes.filter(|path| for_tools.iter().any(|prefix| path.starts_with(prefix)));
        let mut expected = routes.map(|path| path.replace("{*", "{")).collect::<BTreeSet<_>>();
        assert!(expected.remove("/webhooks/{rest}") && expected.len() > 15, "{expected:?}");
        expected.insert("/api/v1/resolve".into());
        expected.insert("/api/v1/content/{registry}/{digest}/{path}".into());
        expected.insert("/api/v1/content/{registry}/{digest}.tar.gz".into());
        expected.extend(target::ASPECTS.map(|aspect| format!("/api/v1/templates/{{reference}}/-/{aspect}")));
        expected
            .extend(["accept", "purge", "sync"].map(|verb| format!("/api/v1/registries/{{name}}/-/{verb}")));
        let described = api::openapi::paths().into_iter().collect::<BTreeSet<_>>();
        assert_eq!(described, expected);
    }

    #[test]
    fn paths_have_their_group() {
        for (path, route) in [
            ("/api/v1/resolve", Route::Resolve),
            ("/api/v1/templates/a/b/c/d:v1/-/files/x.yaml", Route::File),
            ("/api/v1/templates/a/b/c/d:v1/-/files/", Route::Template),
            ("/api/v1/templates/d/-/archive.tar.gz", Route::File),
            ("/api/v1/templates/d", Route::Template),
            ("/api/v1/templates", Route::Template),
            ("/api/v1/collections/a/b/c", Route::Registries),
            ("/api/v1/content/a/b/c/sha256:0.tar.gz", Route::Content),
            ("/api/v1/templates/d/-/process", Route::Process),
            ("/api/v1/content/a/b/c/sha256:0/x", Route::Content),
            ("/api/v1/tokens/ci", Route::Tokens),
            ("/api/v1/openapi.json", Route::Describe),
            ("/readyz", Route::Operations),
            ("/assets/x.css", Route::Asset),
            ("/webhooks/github", Route::Webhook),
            ("/dm", Route::Dm),
            ("/dm/r/github.com/a/b/deployments", Route::Dm),
            ("/dmx/a/b", Route::Page),
            ("/repos/a/b/contents/", Route::Repository),
            ("/raw/a/b/master/x", Route::Repository),
            ("/templates/redis:v1", Route::Kubernetes),
            ("/api/v1/namespaces/x", Route::Kubernetes),
            ("/apis", Route::Kubernetes),
            ("/github.com/a/b", Route::Page),
        ] {
            assert_eq!(Route::of(path), route, "{path}");
        }
        for (index, route) in Route::ALL.into_iter().enumerate() {
            assert_eq!(route as usize, index);
        }
    }
}
