//! `GET /api/v1/openapi.json`: the API described, generated from the handlers and the wire forms.

use std::sync::LazyLock;

use axum::response::Response;
use bytes::Bytes;
use http::HeaderValue;
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
        api::resolve::make,
        api::templates::get_template,
        api::templates::list_files,
        api::templates::get_parameters,
        api::history::get_history,
        api::files::make_by_reference,
        api::files::make_by_digest,
        api::process::process_template,
        api::search::search_templates,
        api::registries::list_registries,
        api::registries::get_registry,
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
    modifiers(&BearerToken),
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

static TEXT: LazyLock<Bytes> = LazyLock::new(|| {
    let text = Document::openapi().to_pretty_json().expect("the document is plain data");
    Bytes::from(text)
});

/// The document itself.
pub(crate) async fn get_openapi() -> Response {
    api::typed(CachePolicy::Revalidate, HeaderValue::from_static("application/json"), TEXT.clone())
}
