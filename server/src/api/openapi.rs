//! `GET /api/v1/openapi.json`: the API described, generated from the handlers and the wire forms.

use std::sync::LazyLock;

use bytes::Bytes;
use http::HeaderValue;
use utoipa::openapi::Ref;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::api;
use crate::cache::CachePolicy;
use crate::webhooks;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Formwork",
        description = "A Git-backed template registry for Kubernetes: resolve references, read versions, process them into objects.\n\nReferences contain slashes; in paths they stay as they are. Every error is `application/problem+json`; its kinds are described at /docs/errors.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
        contact(),
    ),
    paths(
        get_openapi,
        api::resolve::make,
        api::templates::list_templates,
        api::templates::get_template,
        api::templates::list_versions,
        api::templates::list_files,
        api::templates::get_parameters,
        api::history::get_history,
        api::files::make_by_reference,
        api::files::describe_archive,
        api::files::make_by_digest,
        api::files::describe_content_archive,
        api::renovate::get_renovate,
        api::process::process_template,
        api::search::search_templates,
        api::registries::list_registries,
        api::registries::get_registry,
        api::collections::list_collections,
        api::collections::get_collection,
        api::registries::add_registry,
        api::registries::change_registry,
        api::registries::remove_registry,
        api::tokens::list_tokens,
        api::tokens::create_token,
        api::tokens::revoke_token,
        api::history::list_changes,
        api::decisions::accept_held,
        api::decisions::purge_version,
        api::decisions::sync_registry,
        api::operations::get_status,
        api::operations::healthz,
        api::operations::readyz,
        api::operations::metrics,
        webhooks::receive_github,
        webhooks::receive_gitlab,
        webhooks::receive_gitea,
    ),
    modifiers(&BearerToken, &Everywhere),
    tags(
        (name = "resolve", description = "From a reference to a version"),
        (name = "templates", description = "What is known of a version"),
        (name = "files", description = "The bytes of a version"),
        (name = "process", description = "From values to objects"),
        (name = "search", description = "Finding templates"),
        (name = "registries", description = "What this server holds"),
        (name = "history", description = "What became of it"),
        (name = "tokens", description = "Who may see and do what"),
        (name = "operations", description = "For whoever runs it"),
        (name = "webhooks", description = "News from the hosts of repositories"),
    )
)]
struct Document;

/// How a token is sent.
struct BearerToken;

impl Modify for BearerToken {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("A token of `formwork token create`. Without one, what is public is read."))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// What any route may answer, whatever it is about: said once here, and not with each.
struct Everywhere;

impl Modify for Everywhere {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        for (path, item) in &mut document.paths.paths {
            let operations = [
                (&mut item.get, false),
                (&mut item.post, true),
                (&mut item.patch, true),
                (&mut item.delete, true),
            ];
            for (operation, changes) in operations {
                let Some(operation) = operation else { continue };
                let sends = operation.request_body.is_some();
                let about_a_version = path.contains("{reference}") || path.contains("{digest}");
                for (status, description, applies) in [
                    (400, "A parameter, or the address as a whole, cannot be read", true),
                    (401, "The token that was sent is unknown, revoked or over", true),
                    (403, "The token does not allow this, or a form comes from another site", changes),
                    (
                        404,
                        "This server was started without a secret for webhooks",
                        path.starts_with("/webhooks/"),
                    ),
                    (408, "The body did not arrive in time", sends),
                    (410, "It was erased; `detail` says why", about_a_version),
                    (413, "The body is too large", sends),
                    (415, "The form of the body is not understood", sends),
                    (429, "A budget of the client is used up; `Retry-After` says when to come back", true),
                    (500, "The server failed; its log says how, under `request_id`", true),
                ] {
                    if applies {
                        let responses = &mut operation.responses.responses;
                        responses.entry(status.to_string()).or_insert_with(|| problem(description).into());
                    }
                }
            }
        }
    }
}

/// An answer that is a problem.
fn problem(description: &str) -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    ResponseBuilder::new().description(description).content("application/problem+json", content).build()
}

static TEXT: LazyLock<Bytes> = LazyLock::new(|| {
    let text = Document::openapi().to_pretty_json().expect("the document is plain data");
    Bytes::from(text)
});

static DOCUMENT: LazyLock<serde_json::Value> =
    LazyLock::new(|| serde_json::from_slice(&TEXT).expect("what was written as JSON reads as JSON"));

/// The document, for pages.
pub(crate) fn document() -> &'static serde_json::Value {
    &DOCUMENT
}

/// This description of the API
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "operations", operation_id = "get_openapi",
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value))
)]
pub(crate) async fn get_openapi() -> axum::response::Response {
    api::typed(CachePolicy::Revalidate, HeaderValue::from_static("application/json"), TEXT.clone())
}

/// Every path that is described.
#[cfg(test)]
pub(crate) fn paths() -> Vec<String> {
    Document::openapi().paths.paths.into_keys().collect()
}
