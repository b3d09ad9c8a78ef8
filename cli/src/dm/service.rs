//! The manager API of a server, as `dm` asks it. Refusals are shown in the server's words.

use anyhow::{Context, anyhow};
use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::Client;

/// What the API calls the registry of a base path, or the server's default.
pub(super) const DEFAULT_REGISTRY: &str = "application-dm-templates";

/// The server understood and said no.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refused(String);

/// A manager API, with where short references go.
pub(super) struct Service {
    client: Client,
    base: Url,
}

impl Service {
    /// The service at a URL: the server's, or that of its API as the original client takes it.
    pub(super) fn new(service: &str, registry: Option<&str>) -> anyhow::Result<Service> {
        let mut base = Url::parse(service).with_context(|| format!("`{service}` is no URL of a server"))?;
        if base.path().trim_matches('/').is_empty() {
            base.set_path("/dm");
        }
        if let Some(registry) = registry {
            let registry = full_name(registry);
            let mut segments =
                base.path_segments_mut().map_err(|()| anyhow!("`{service}` is no URL of a server"))?;
            segments.pop_if_empty().push("r").extend(registry.split('/'));
        }
        Ok(Service { client: Client::new(service)?, base })
    }

    /// Asks for a path, given by its segments: names are escaped.
    pub(super) fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: Option<(&str, &str)>,
    ) -> anyhow::Result<T> {
        let mut url = self.url(path)?;
        if let Some((name, value)) = query {
            url.query_pairs_mut().append_pair(name, value);
        }
        self.send(Method::GET, url, None)
    }

    /// Sends a document.
    pub(super) fn send_to<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
    ) -> anyhow::Result<T> {
        self.send(method, self.url(path)?, body)
    }

    fn url(&self, path: &[&str]) -> anyhow::Result<Url> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| anyhow!("{} is no URL of a server", self.base))?
            .pop_if_empty()
            .extend(path);
        Ok(url)
    }

    fn send<T: DeserializeOwned>(&self, method: Method, url: Url, body: Option<&Value>) -> anyhow::Result<T> {
        let (status, answer) = self.client.exchange(method, url, body)?;
        if !status.is_success() {
            return Err(Refused(String::from_utf8_lossy(&answer).trim_end().to_owned()).into());
        }
        serde_json::from_slice(&answer).with_context(|| {
            format!("{} is no Formwork server, or a newer one", self.base.origin().ascii_serialization())
        })
    }
}

/// The whole name of a registry: without a host it is at GitHub.
fn full_name(registry: &str) -> String {
    let name = registry.strip_prefix("https://").unwrap_or(registry).trim_matches('/');
    let has_host = name.split('/').next().is_some_and(|first| first.contains('.') || first == "localhost");
    if has_host { name.to_owned() } else { format!("github.com/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_without_a_host_are_at_github() {
        assert_eq!(full_name("my-org/my-repo/my-collection"), "github.com/my-org/my-repo/my-collection");
        assert_eq!(full_name("https://git.example/a/b/"), "git.example/a/b");
        assert_eq!(full_name("localhost/a/b"), "localhost/a/b");
    }

    #[test]
    fn names_are_escaped_and_the_base_path_is_kept() {
        let url = |service: &str, registry| {
            let service = Service::new(service, registry).unwrap();
            service.url(&["types", "a/b:v1 x", "metadata"]).unwrap().to_string()
        };
        assert_eq!(url("http://h:1", None), "http://h:1/dm/types/a%2Fb:v1%20x/metadata");
        assert_eq!(
            url("http://h:1/dm/", Some("o/r/c")),
            "http://h:1/dm/r/github.com/o/r/c/types/a%2Fb:v1%20x/metadata"
        );
        assert_eq!(url("http://h:1/proxy/dm", None), "http://h:1/proxy/dm/types/a%2Fb:v1%20x/metadata");
    }
}
