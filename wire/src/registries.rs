//! The answers to `GET /api/v1/registries`, `/api/v1/collections` and `/api/v1/templates`, and to one registry or collection.

use std::collections::BTreeMap;

use schema::Kind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::common::{Finding, Health};

/// The registries of this server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistryList {
    /// The registry that short references are in, with its collection if one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The registries, sorted by name.
    pub registries: Vec<RegistrySummary>,
    /// The value of `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A registry in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistrySummary {
    /// Its name.
    #[schema(example = "github.com/acme/templates")]
    pub name: String,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who sees it: `public`, or `private`, for whoever has a token for it.
    #[schema(example = "public")]
    pub visibility: String,
    /// What it holds.
    pub counts: Counts,
    /// The state of bringing it up to date.
    pub sync: Sync,
    /// Where the registry is described.
    pub url: String,
}

/// A registry to add.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRegistry {
    /// What it is called: a host and two or more segments.
    #[schema(example = "github.com/acme/templates")]
    pub name: String,
    /// Where it comes from: the URL of a Git repository, by https or ssh, without credentials.
    #[schema(example = "https://github.com/acme/templates.git")]
    pub source: String,
    /// The branch to read; the default one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Who sees it: `public`, which it is if absent, or `private`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<String>,
}

/// What to change about a registry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistryChange {
    /// Who sees it: `public` or `private`. What the settings of the server say of it goes at its next start.
    #[schema(example = "private")]
    pub visibility: String,
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    /// Collections, the root among them if it holds templates.
    pub collections: usize,
    /// Templates.
    pub templates: usize,
    /// Versions.
    pub versions: usize,
}

/// How healthy versions are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HealthCounts {
    /// Without a finding above info.
    pub healthy: usize,
    /// With a warning for their worst finding.
    pub warnings: usize,
    /// With an error.
    pub errors: usize,
}

impl HealthCounts {
    /// Counts one version.
    pub const fn add(&mut self, health: Health) {
        match health {
            Health::Healthy => self.healthy += 1,
            Health::Warnings => self.warnings += 1,
            Health::Errors => self.errors += 1,
        }
    }

    /// How many were counted.
    pub const fn total(&self) -> usize {
        self.healthy + self.warnings + self.errors
    }
}

/// How bringing a registry up to date goes. A failure delays news; it takes nothing away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sync {
    /// `waiting`, `fetching`, `scanning`, `publishing`, `ready`, `failed`, or `detached`: not brought up to date any more.
    #[schema(example = "ready")]
    pub state: String,
    /// What went wrong last, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When it last succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_success: Option<String>,
    /// When it is tried next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One registry with what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Registry {
    /// What a list says of it.
    #[serde(flatten)]
    pub summary: RegistrySummary,
    /// How healthy its versions are.
    pub health: HealthCounts,
    /// Where it comes from; credentials are never shown.
    pub source: String,
    /// The commit that is served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When that was indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indexed: Option<String>,
    /// Who keeps it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maintainers: Vec<String>,
    /// Links, by label.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// Its collections, the root first.
    pub collections: Vec<Collection>,
    /// Where its templates are listed.
    pub templates_url: String,
    /// What is wrong with the registry as a whole.
    pub findings: Vec<Finding>,
    /// What the host says of it where it was found; absent for registries that were given by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovered: Option<Discovered>,
}

/// A registry as the host says it is where it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Discovered {
    /// The branch people get without asking for one.
    pub default_branch: String,
    /// What its owner says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many people starred it.
    pub stars: u64,
    /// When it was first not found any more; it stays served as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_since: Option<String>,
}

/// Collections of the registries of this server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CollectionList {
    /// The collections, sorted by registry and name, the root of each registry first.
    pub collections: Vec<Collection>,
    /// The value of `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Collection {
    /// The registry it is in.
    #[schema(example = "github.com/acme/templates")]
    pub registry: String,
    /// Its name; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its directory in the repository; empty for the root.
    pub path: String,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many templates are in it.
    pub templates: usize,
    /// Where it is described.
    pub url: String,
    /// Where its templates are listed.
    pub templates_url: String,
}

/// Templates of the registries of this server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TemplateList {
    /// The templates, sorted by registry, collection and name.
    pub templates: Vec<TemplateSummary>,
    /// The value of `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A template in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TemplateSummary {
    /// Its name.
    pub name: String,
    /// Its registry.
    pub registry: String,
    /// Its collection; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
    /// The full reference without a version: the newest.
    pub reference: String,
    /// Its newest version that may be chosen, else its newest.
    pub latest: String,
    /// What that version is.
    #[schema(value_type = String, example = "template")]
    pub kind: Kind,
    /// That version's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What that version is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// That version's worst finding.
    pub health: Health,
    /// How many versions there are.
    pub versions: usize,
    /// Where it is described.
    pub url: String,
}
