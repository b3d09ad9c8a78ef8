//! The answer to `GET /api/v1/templates/<reference>/-/renovate`: the versions of a template as Renovate's custom
//! datasources take them. Its members are Renovate's, in its spelling.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The versions of a template, for Renovate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Datasource {
    /// The versions, newest first.
    pub releases: Vec<Release>,
    /// The repository, if people can open it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "https://github.com/acme/templates")]
    pub source_url: Option<String>,
    /// The directory of the template in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "databases/redis")]
    pub source_directory: Option<String>,
    /// The page of the template; only if the server knows its public URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// `latest`: the version a reference without one gets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// One version, for Renovate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// The version, with its `v`, as references have it.
    #[schema(example = "v1.0.4")]
    pub version: String,
    /// Whether it is withdrawn or deprecated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_deprecated: bool,
    /// When the commit that brought it was made, else when it was first published here.
    pub release_timestamp: String,
    /// The digest of its files, for references that are pinned.
    pub digest: String,
    /// The page of the version; only if the server knows its public URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changelog_url: Option<String>,
}
