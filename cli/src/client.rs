//! The native API as commands use it. Errors show what the server said, with its way out.

use std::time::Duration;

use anyhow::{Context, anyhow};
use reqwest::blocking::{Client as Http, Response};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use schema::Reference;
use schema::processing::Request;
use serde::de::DeserializeOwned;
use wire::history::{AcceptRequest, Accepted, History, PurgeRequest, Purged};
use wire::process::{ProcessAnswer, ProcessRequest};
use wire::registries::{RegistryList, TemplateList};
use wire::resolve::Resolved;
use wire::search::SearchAnswer;
use wire::templates::{Template, VersionList};
use wire::tokens::{CreatedToken, NewToken, TokenList};

/// How long a request may take: processing has two seconds, and a busy server queues.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Items a page of a list has: as many as servers give.
const PAGE: &str = "1000";

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
    pub(crate) fn registries(&self) -> anyhow::Result<RegistryList> {
        self.whole::<RegistryList>("/api/v1/registries", &[], |list, page| {
            list.registries.extend(page.registries);
        })
    }

    /// The templates of a registry, or of one of its collections; `/` is the root.
    pub(crate) fn templates(&self, registry: &str, collection: Option<&str>) -> anyhow::Result<TemplateList> {
        let mut parameters = vec![("registry", registry)];
        parameters.extend(collection.map(|collection| ("collection", collection)));
        self.whole::<TemplateList>("/api/v1/templates", &parameters, |list, page| {
            list.templates.extend(page.templates);
        })
    }

    /// Every version of a template.
    pub(crate) fn versions(&self, template: &str) -> anyhow::Result<VersionList> {
        let path = format!("/api/v1/templates/{template}/-/versions");
        self.whole::<VersionList>(&path, &[], |list, page| list.versions.extend(page.versions))
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
        self.whole::<TokenList>("/api/v1/tokens", &[], |list, page| list.tokens.extend(page.tokens))
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
        self.whole::<History>(&path, &[], |list, page| list.revisions.extend(page.revisions))
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

    /// One request to an API of a form of its own: the status and the body as they came.
    pub(crate) fn exchange(
        &self,
        method: Method,
        url: Url,
        body: Option<&serde_json::Value>,
    ) -> anyhow::Result<(StatusCode, Vec<u8>)> {
        let request = self.http.request(method, url);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = request.send().map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let body = response.bytes().map_err(|error| self.unreachable(&error))?;
        Ok((status, body.to_vec()))
    }

    /// A list, all of its pages as one.
    fn whole<T: Paged>(
        &self,
        path: &str,
        parameters: &[(&str, &str)],
        add: fn(&mut T, T),
    ) -> anyhow::Result<T> {
        let parameters = [parameters, &[("limit", PAGE)]].concat();
        let mut list = self.get::<T>(path, &parameters)?;
        while let Some(cursor) = list.next().take() {
            let mut page = self.get::<T>(path, &[&parameters[..], &[("cursor", &cursor)]].concat())?;
            *list.next() = page.next().take();
            add(&mut list, page);
        }
        Ok(list)
    }

    fn get<T: DeserializeOwned>(&self, path: &str, parameters: &[(&str, &str)]) -> anyhow::Result<T> {
        self.read(self.http.get(self.parse(path, parameters)?).send())
    }

    fn parse(&self, path: &str, parameters: &[(&str, &str)]) -> anyhow::Result<Url> {
        let url = format!("{}{path}", self.base);
        let url = match parameters {
            [] => Url::parse(&url),
            _ => Url::parse_with_params(&url, parameters),
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

/// An answer in pages.
trait Paged: DeserializeOwned {
    /// The cursor of the page that follows, if one does.
    fn next(&mut self) -> &mut Option<String>;
}

macro_rules! paged {
    ($($list:ty),*) => {
        $(impl Paged for $list {
            fn next(&mut self) -> &mut Option<String> {
                &mut self.next
            }
        })*
    };
}

paged!(History, RegistryList, TemplateList, TokenList, VersionList);

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
