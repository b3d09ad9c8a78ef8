//! Which repositories are registries: all of an owner are listed, and those that say so are taken.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use schema::RegistryName;
use serde::Deserialize;
use tokio::sync::Mutex;

use crate::authentication::{Credentials, Token};
use crate::client::{Answer, Api, Client, GithubError};

/// The topic registries are marked with, unless another is chosen.
pub const TOPIC: &str = "formwork-registry";

/// Pages of 100 repositories that are read at most.
const PAGES: usize = 1_000;

/// What tells a registry from another repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Find {
    /// A topic among those shown on its page.
    Topic(String),
    /// A file `registry.yaml` at the root of its default branch. Costs a request for each repository that changed.
    RegistryFile,
}

/// What to look for, and where.
#[derive(Debug, Clone)]
pub struct Config {
    /// The API.
    pub api: Api,
    /// The organisation or user whose repositories are looked through.
    pub owner: String,
    /// What tells a registry.
    pub find: Find,
    /// Who asks.
    pub credentials: Credentials,
}

/// A repository that is a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is called: host, owner and repository.
    pub name: RegistryName,
    /// Where it is cloned from, without credentials.
    pub clone_url: String,
    /// The branch people get without asking for one.
    pub default_branch: String,
    /// What its owner says it is.
    pub description: Option<String>,
    /// How many people starred it.
    pub stars: u64,
    /// Whether cloning it takes credentials.
    pub private: bool,
}

/// A repository as the API lists it, as far as it is looked at.
#[derive(Debug, Deserialize)]
struct Repository {
    full_name: String,
    clone_url: String,
    default_branch: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    stargazers_count: u64,
    #[serde(default)]
    private: bool,
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    topics: Vec<String>,
    #[serde(default)]
    pushed_at: Option<String>,
}

/// What an installation of an app lists.
#[derive(Deserialize)]
struct Installation {
    repositories: Vec<Repository>,
}

/// Whether a repository had a registry.yaml when it was last looked at: push and branch, and the answer.
type Looked = HashMap<String, (Option<String>, String, bool)>;

/// Looks for registries, again and again: what did not change is not asked for twice.
#[derive(Debug)]
pub struct Github {
    client: Client,
    owner: String,
    find: Find,
    looked: Mutex<Looked>,
}

impl Github {
    /// Ready to look; nothing is asked yet. To be called where a tokio runtime is.
    ///
    /// # Errors
    /// When no client can be made, for want of the system's certificates for instance.
    pub fn new(config: Config) -> Result<Github, GithubError> {
        let Config { api, owner, find, credentials } = config;
        Ok(Github { client: Client::new(api, credentials)?, owner, find, looked: Mutex::default() })
    }

    /// Every registry of the owner, by name. All of them or an error: a listing that broke off would look as if the
    /// others had gone.
    ///
    /// # Errors
    /// See [`GithubError`]; limits are waited for up to about an hour first.
    pub async fn discover(&self) -> Result<Vec<Found>, GithubError> {
        let mut found = BTreeMap::new();
        for repository in self.repositories().await? {
            if self.is_registry(&repository).await?
                && let Some(registry) = self.registry(repository)
            {
                found.insert(registry.name.canonical().to_owned(), registry);
            }
        }
        Ok(found.into_values().collect())
    }

    /// A token that private repositories are fetched with: the user is `x-access-token`. Good for five minutes at least
    /// if it is of an app.
    ///
    /// # Errors
    /// When an app is not given one.
    pub async fn token(&self) -> Result<Option<Token>, GithubError> {
        self.client.token().await
    }

    async fn repositories(&self) -> Result<Vec<Repository>, GithubError> {
        let owner = escaped(&self.owner);
        if matches!(self.client.credentials(), Credentials::App(_)) {
            let first = "/installation/repositories?per_page=100";
            let listed = self.pages(first, |page: Installation| page.repositories).await?;
            return listed.ok_or_else(|| self.not_found("installation of the app"));
        }
        let of_organisation = format!("/orgs/{owner}/repos?type=all&sort=full_name&per_page=100");
        if let Some(listed) = self.pages(&of_organisation, |page: Vec<Repository>| page).await? {
            return Ok(listed);
        }
        let of_user = format!("/users/{owner}/repos?type=owner&sort=full_name&per_page=100");
        let listed = self.pages(&of_user, |page: Vec<Repository>| page).await?;
        listed.ok_or_else(|| self.not_found(&format!("organisation or user `{}`", self.owner)))
    }

    /// Every page from the first one on; `None` if there is none.
    async fn pages<T: serde::de::DeserializeOwned>(
        &self,
        first: &str,
        read: impl Fn(T) -> Vec<Repository>,
    ) -> Result<Option<Vec<Repository>>, GithubError> {
        let (mut all, mut next) = (Vec::new(), Some(first.to_owned()));
        for page in 0..PAGES {
            let Some(path) = next.take() else { break };
            match self.client.get::<T>(&path).await? {
                Some(Answer { value, next: after }) => {
                    all.extend(read(value));
                    next = after;
                }
                None if page == 0 => return Ok(None),
                // The last page went while the ones before were read: begin anew another time.
                None => return Err(self.not_found("page of the listing")),
            }
        }
        Ok(Some(all))
    }

    async fn is_registry(&self, repository: &Repository) -> Result<bool, GithubError> {
        if repository.disabled || !self.is_owners(repository) {
            return Ok(false);
        }
        match &self.find {
            Find::Topic(topic) => Ok(repository.topics.contains(topic)),
            Find::RegistryFile => self.has_registry_file(repository).await,
        }
    }

    /// An installation lists what it may see; only what is the owner's is looked for.
    fn is_owners(&self, repository: &Repository) -> bool {
        let owner = repository.full_name.split_once('/').map(|(owner, _)| owner);
        owner.is_some_and(|owner| owner.eq_ignore_ascii_case(&self.owner))
    }

    async fn has_registry_file(&self, repository: &Repository) -> Result<bool, GithubError> {
        let mut looked = self.looked.lock().await;
        if let Some((pushed, branch, has)) = looked.get(&repository.full_name)
            && *pushed == repository.pushed_at
            && *branch == repository.default_branch
        {
            return Ok(*has);
        }
        let path = format!(
            "/repos/{}/contents/registry.yaml?ref={}",
            repository.full_name.split('/').map(escaped).collect::<Vec<_>>().join("/"),
            escaped(&repository.default_branch)
        );
        let has = self.client.get::<serde_json::Value>(&path).await?.is_some();
        let seen = (repository.pushed_at.clone(), repository.default_branch.clone(), has);
        looked.insert(repository.full_name.clone(), seen);
        Ok(has)
    }

    /// A repository as a registry; none if its name or URL cannot be one's, which is logged.
    fn registry(&self, repository: Repository) -> Option<Found> {
        let api = self.client.api();
        let name = format!("{}/{}", api.host(), repository.full_name);
        let name = match RegistryName::from_str(&name) {
            Ok(name) if name.segments().count() == 3 => name,
            _ => {
                tracing::warn!(repository = %repository.full_name.escape_debug(), "is no name of a registry");
                return None;
            }
        };
        if !api.has(&repository.clone_url) {
            tracing::warn!(registry = %name, url = %repository.clone_url.escape_debug(), "is not at the host of the API, and is not fetched");
            return None;
        }
        Some(Found {
            name,
            clone_url: repository.clone_url,
            default_branch: repository.default_branch,
            description: repository.description.filter(|text| !text.trim().is_empty()),
            stars: repository.stargazers_count,
            private: repository.private,
        })
    }

    fn not_found(&self, what: &str) -> GithubError {
        GithubError::NotFound { api: self.client.api().to_string(), what: what.to_owned() }
    }
}

/// A text as one segment of a path or one value of a query.
fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}
