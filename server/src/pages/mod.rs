//! Pages for people: server-rendered, whole without JavaScript, and never a dead end.
//!
//! A page shows only what is real: no button for what does not exist. Text from outside passes askama's escaping, or
//! `ui` and `markdown`, which escape it themselves.

pub(crate) mod docs;
pub(crate) mod feed;
pub(crate) mod home;
pub(crate) mod login;
pub(crate) mod not_found;
pub(crate) mod reference;
pub(crate) mod registries;
pub(crate) mod registry;
pub(crate) mod routes;
pub(crate) mod search;
pub(crate) mod status;
pub(crate) mod template;
pub(crate) mod trying;

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use http::{HeaderValue, StatusCode};
use wire::ProblemKind;

use crate::access::Caller;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::{api, assets};

/// What the frame around every page shows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    /// What the page is about, for the window's title.
    pub(crate) title: String,
    /// What stands in the search field.
    pub(crate) query: String,
    /// The entry of the navigation that this page is: its path.
    pub(crate) current: &'static str,
    /// The generation of the catalogue, for whoever sees all of it: it tells of every change.
    pub(crate) generation: Option<u64>,
    /// Who is signed in.
    pub(crate) signed_in: Option<SignedIn>,
}

/// Who is signed in with a browser.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn {
    /// The name of their token.
    pub(crate) name: String,
    /// The word that every form of the page carries, in a hidden field named `csrf`.
    pub(crate) word: String,
}

impl Frame {
    /// The frame of a page.
    pub(crate) fn new(app: &App, caller: &Caller, title: impl Into<String>) -> Frame {
        let generation = caller.sees_everything().then(|| app.catalog.snapshot().generation);
        let signed_in = caller.session().zip(caller.grant()).map(|(session, grant)| SignedIn {
            name: grant.token.name.to_string(),
            word: session.word.clone(),
        });
        Frame { title: title.into(), generation, signed_in, ..Frame::default() }
    }

    /// The same, with the entry of the navigation.
    pub(crate) fn at(mut self, current: &'static str) -> Frame {
        self.current = current;
        self
    }

    /// The version of the program.
    pub(crate) const fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}

/// A page, as an answer.
fn page(template: &impl Template) -> ApiResult {
    page_with(StatusCode::OK, CachePolicy::Revalidate, template)
}

fn page_with(status: StatusCode, policy: CachePolicy, template: &impl Template) -> ApiResult {
    let html = template.render().map_err(ApiError::internal)?;
    let mut response = api::typed(policy, HeaderValue::from_static("text/html; charset=utf-8"), html);
    *response.status_mut() = status;
    Ok(response)
}

/// An asset, under its name with a digest.
pub(crate) async fn asset(Path(name): Path<String>) -> ApiResult {
    let asset = assets::get(&name)
        .ok_or_else(|| ApiError::new(ProblemKind::UnknownPath, "there is no such asset"))?;
    let mut response = api::typed(CachePolicy::Immutable, asset.content_type.clone(), asset.body.clone());
    // The icons' own styles are inline; nothing in them runs.
    response.headers_mut().insert(
        http::header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'"),
    );
    Ok(response)
}

/// What browsers ask for by themselves.
pub(crate) async fn favicon() -> Response {
    let mut response = api::typed(CachePolicy::Revalidate, HeaderValue::from_static("text/plain"), "");
    *response.status_mut() = StatusCode::FOUND;
    response
        .headers_mut()
        .insert(http::header::LOCATION, HeaderValue::from_static(assets::url("favicon.svg")));
    response
}

/// What crawlers ask for: everything but search, whose answers have no end.
pub(crate) async fn robots() -> Response {
    api::typed(
        CachePolicy::Revalidate,
        HeaderValue::from_static("text/plain; charset=utf-8"),
        "User-agent: *\nDisallow: /search\nDisallow: /api/\n",
    )
}
