//! The native API as commands use it. Errors show what the server said, with its way out.

use std::time::Duration;

use anyhow::{Context, anyhow};
use reqwest::blocking::{Client as Http, Response};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use schema::Reference;
use schema::processing::Request;
use serde::de::DeserializeOwned;
use wire::history::{AcceptRequest, Accepted, History, PurgeRequest, Purged};
use wire::process::{ProcessAnswer, ProcessRequest};
use wire::resolve::Resolved;
use wire::search::SearchAnswer;
use wire::templates::Template;
use wire::tokens::{CreatedToken, NewToken, TokenList};

/// How long a request may take: processing has two seconds, and a busy server queues.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The variable a token is taken from: not a flag, for command lines are seen by others and remembered.
pub(crate) const TOKEN: &str = "FORMWORK_TOKEN";

/// The template could not be processed: the server was asked and said so.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NotProcessed(String);

/// A server's native API.
pub(crate) struct Client {
    http: Http,
    base: String,
}

impl Client {
    /// A client of the server at this URL.
    pub(crate) fn new(server: &str) -> anyhow::Result<Client> {
        // Another part of the program may have installed it already.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut headers = HeaderMap::new();
        if let Some(token) = std::env::var(TOKEN).ok().filter(|token| !token.is_empty()) {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.trim()))
                .map_err(|_| anyhow!("{TOKEN} is no token: `formwork token create` makes one"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let http = Http::builder()
            .default_headers(headers)
            .user_agent(concat!("formwork/", env!("CARGO_PKG_VERSION")))
            .timeout(TIMEOUT)
            .build()
            .context("the HTTP client could not be made")?;
        Ok(Client { http, base: server.trim_end_matches('/').to_owned() })
    }

    /// Which version a reference gets.
    pub(crate) fn resolve(&self, reference: &str) -> anyhow::Result<Resolved> {
        self.get("/api/v1/resolve", &[("ref", reference)])
    }

    /// The bytes of a file of a version. The address is made here: a token goes nowhere but to this server.
    pub(crate) fn content(&self, registry: &str, digest: &str, path: &str) -> anyhow::Result<Vec<u8>> {
        let mut url = self.parse("", &[])?;
        let segments = ["api", "v1", "content"].into_iter().chain(registry.split('/')).chain([digest]);
        url.path_segments_mut()
            .map_err(|()| anyhow!("`{}` is not the URL of a server", self.base))?
            .pop_if_empty()
            .extend(segments.chain(path.split('/')));
        self.body(self.http.get(url).send())
    }

    /// What a query finds; parameters as the API names them.
    pub(crate) fn search(&self, parameters: &[(&str, &str)]) -> anyhow::Result<SearchAnswer> {
        self.get("/api/v1/search", parameters)
    }

    /// The registries there are.
    pub(crate) fn registries(&self) -> anyhow::Result<wire::registries::RegistryList> {
        self.get("/api/v1/registries", &[])
    }

    /// What is known of the version a reference gets.
    pub(crate) fn template(&self, reference: &str) -> anyhow::Result<Template> {
        self.get(&format!("/api/v1/templates/{reference}"), &[])
    }

    /// The address of something on this server; one that is whole already stays as it is.
    pub(crate) fn url(&self, path: &str) -> String {
        if path.starts_with('/') { format!("{}{path}", self.base) } else { path.to_owned() }
    }

    /// What processing a template gives.
    pub(crate) fn process(&self, reference: &Reference, request: &Request) -> anyhow::Result<ProcessAnswer> {
        let body = ProcessRequest {
            values: Some(request.values.clone()).filter(|values| !values.is_null()),
            set: request.set.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            name: request.name.clone(),
            namespace: request.namespace.clone(),
            labels: request.labels.iter().cloned().collect(),
            dialect: request.dialect.clone(),
            strict: request.strict,
            ignore_unknown: request.ignore_unknown,
            seed: request.seed.clone(),
            ..ProcessRequest::default()
        };
        let url = format!("{}/api/v1/templates/{reference}/-/process", self.base);
        self.read(self.http.post(&url).json(&body).send())
    }

    /// The parameters of a template, as their JSON Schema.
    pub(crate) fn parameters(&self, reference: &Reference) -> anyhow::Result<serde_json::Value> {
        self.get(&format!("/api/v1/templates/{reference}/-/parameters"), &[])
    }

    /// The tokens a server has given out.
    pub(crate) fn tokens(&self) -> anyhow::Result<TokenList> {
        let (mut tokens, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.get::<TokenList>(
                "/api/v1/tokens",
                &[("limit", PAGE), ("cursor", &cursor)][..after(&cursor)],
            )?;
            tokens.extend(page.tokens);
            match page.next {
                Some(next) => cursor = next,
                None => return Ok(TokenList { tokens, next: None }),
            }
        }
    }

    /// Has a server make a token.
    pub(crate) fn create_token(&self, token: &NewToken) -> anyhow::Result<CreatedToken> {
        let url = format!("{}/api/v1/tokens", self.base);
        self.read(self.http.post(&url).json(token).send())
    }

    /// Has a server revoke a token.
    pub(crate) fn revoke_token(&self, name: &str) -> anyhow::Result<()> {
        let url = format!("{}/api/v1/tokens/{name}", self.base);
        self.body(self.http.delete(&url).send()).map(drop)
    }

    /// What became of a template or of one version.
    pub(crate) fn history(&self, reference: &str) -> anyhow::Result<History> {
        let path = format!("/api/v1/templates/{reference}/-/history");
        let mut whole = None::<History>;
        let mut cursor = String::new();
        loop {
            let page =
                self.get::<History>(&path, &[("limit", PAGE), ("cursor", &cursor)][..after(&cursor)])?;
            let next = page.next.clone();
            match &mut whole {
                None => whole = Some(History { next: None, ..page }),
                Some(whole) => whole.revisions.extend(page.revisions),
            }
            match (next, whole) {
                (None, Some(whole)) => return Ok(whole),
                (next, pages) => (cursor, whole) = (next.unwrap_or_default(), pages),
            }
        }
    }

    /// A registry, with how bringing it up to date goes.
    pub(crate) fn registry(&self, name: &str) -> anyhow::Result<wire::registries::Registry> {
        self.get(&format!("/api/v1/registries/{name}"), &[])
    }

    /// Has a registry looked at as soon as there is a turn.
    pub(crate) fn sync(&self, name: &str) -> anyhow::Result<wire::registries::Sync> {
        let url = format!("{}/api/v1/registries/{name}/-/sync", self.base);
        self.read(self.http.post(url).send())
    }

    /// Lets in what was held back of a registry.
    pub(crate) fn accept(&self, registry: &str, request: &AcceptRequest) -> anyhow::Result<Accepted> {
        let url = format!("{}/api/v1/registries/{registry}/-/accept", self.base);
        self.read(self.http.post(url).json(request).send())
    }

    /// Erases a version of a registry.
    pub(crate) fn purge(&self, registry: &str, request: &PurgeRequest) -> anyhow::Result<Purged> {
        let url = format!("{}/api/v1/registries/{registry}/-/purge", self.base);
        self.read(self.http.post(url).json(request).send())
    }

    fn get<T: DeserializeOwned>(&self, path: &str, parameters: &[(&str, &str)]) -> anyhow::Result<T> {
        self.read(self.http.get(self.parse(path, parameters)?).send())
    }

    fn parse(&self, path: &str, parameters: &[(&str, &str)]) -> anyhow::Result<reqwest::Url> {
        let url = format!("{}{path}", self.base);
        let url = match parameters {
            [] => reqwest::Url::parse(&url),
            _ => reqwest::Url::parse_with_params(&url, parameters),
        };
        url.with_context(|| format!("`{}` is not the URL of a server", self.base))
    }

    fn read<T: DeserializeOwned>(&self, response: reqwest::Result<Response>) -> anyhow::Result<T> {
        let body = self.body(response)?;
        serde_json::from_slice(&body)
            .with_context(|| format!("{} is no Formwork server, or a newer one", self.base))
    }

    /// The body of an answer that is no error.
    fn body(&self, response: reqwest::Result<Response>) -> anyhow::Result<Vec<u8>> {
        let response = response.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let body = response.bytes().map_err(|error| self.unreachable(&error))?;
        if status.is_success() {
            return Ok(body.to_vec());
        }
        Err(match serde_json::from_slice::<wire::Problem>(&body) {
            Ok(problem) if problem.status == 422 => NotProcessed(said(&problem)).into(),
            Ok(problem) => anyhow!(said(&problem)),
            Err(_) => anyhow!("{} answered {status}", self.base),
        })
    }

    fn unreachable(&self, error: &reqwest::Error) -> anyhow::Error {
        let mut cause = std::error::Error::source(error);
        let mut last = error.to_string();
        while let Some(error) = cause {
            last = error.to_string();
            cause = error.source();
        }
        let base = &self.base;
        anyhow!(
            "no answer from {base}: {last}\n  hint: start one with `formwork serve DIRECTORY`, or name another with --server or FORMWORK_SERVER"
        )
    }
}

/// Items of a page: the most there can be, for all of them are wanted.
const PAGE: &str = "1000";

/// How many parameters a page is asked for with: without a cursor, the first.
fn after(cursor: &str) -> usize {
    if cursor.is_empty() { 1 } else { 2 }
}

/// A problem as people read it: what, every place, and the way out, one a line.
fn said(problem: &wire::Problem) -> String {
    let mut lines = vec![problem.detail.clone()];
    for error in &problem.errors {
        let file = error.file.as_deref().unwrap_or_default();
        let line =
            error.line.map(|line| format!(":{line}:{}", error.column.unwrap_or(1))).unwrap_or_default();
        let pointer = error.pointer.as_ref().map(|pointer| format!(" ({pointer})")).unwrap_or_default();
        let place = format!("{file}{line}{pointer}");
        let place = if place.is_empty() { place } else { format!("{}: ", place.trim()) };
        if error.message != problem.detail || !place.is_empty() {
            lines.push(format!("  {place}{}", error.message));
        }
        lines.extend(error.hint.iter().map(|hint| format!("    hint: {hint}")));
    }
    if !problem.versions.is_empty() {
        lines.push(format!("  versions: {}", problem.versions.join(", ")));
    }
    if !problem.near.is_empty() {
        lines.push(format!("  did you mean: {}", problem.near.join(", ")));
    }
    lines.extend(problem.hint.iter().map(|hint| format!("  hint: {hint}")));
    lines.join("\n")
}
