//! The answer to `GET /api/v1/resolve`.

use schema::Kind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::common::{Health, Notice};
use crate::files::File;

/// What a reference gets, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Resolved {
    /// The reference as it was asked.
    #[schema(example = "redis:v1")]
    pub requested: String,
    /// The exact version it gets.
    #[schema(example = "v1.0.4")]
    pub resolved: String,
    /// The full reference, exact and with the digest: asks for these bytes wherever they are served.
    #[schema(
        example = "github.com/acme/templates/redis:=v1.0.4@sha256:7d1e09c4b0c7b8a1a0f5a8c5d1d4d25b2a6c0e8d9a7f3b1c2d3e4f5061728394"
    )]
    pub pinned: String,
    /// The full reference that follows patches, like the one asked for.
    #[schema(example = "github.com/acme/templates/redis:v1.0.4")]
    pub reference: String,
    /// The registry it is in.
    #[schema(example = "github.com/acme/templates")]
    pub registry: String,
    /// The collection; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
    /// The template's name.
    #[schema(example = "redis")]
    pub template: String,
    /// The version as its directory spells it.
    #[schema(example = "v1.0.4")]
    pub version: String,
    /// Which rule chose it: `highest`, `highest-patch`, `highest-minor`, `exact` or `digest`.
    #[schema(example = "highest-patch")]
    pub rule: String,
    /// The same in a sentence.
    pub why: String,
    /// The commit it was read from, if the registry is a Git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The digest of the version's files.
    pub digest: String,
    /// What it is.
    #[schema(value_type = String, example = "template")]
    pub kind: Kind,
    /// Its worst finding.
    pub health: Health,
    /// The top-level template file among the files.
    pub entry: String,
    /// Its files, sorted by path.
    pub files: Vec<File>,
    /// What the rule did not take although it is newer.
    #[serde(default, skip_serializing_if = "Newer::is_none")]
    pub newer: Newer,
    /// Why it is no longer chosen, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Notice>,
    /// Why it is on its way out, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Notice>,
    /// Where to go from here.
    pub links: Links,
}

/// Versions that are newer than the one chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Newer {
    /// The highest version of the same MAJOR with a higher MINOR.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minor: Option<String>,
    /// The highest version of a higher MAJOR.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major: Option<String>,
}

impl Newer {
    /// Whether there is nothing newer.
    pub const fn is_none(&self) -> bool {
        self.minor.is_none() && self.major.is_none()
    }
}

/// Where to go from a version. Absolute if the server knows its public URL, else from the root of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Links {
    /// What is known of this version.
    pub template: String,
    /// Its files, by reference.
    pub files: String,
    /// Its files, for ever, by digest.
    pub content: String,
    /// All of its files, for ever, as an archive.
    pub archive: String,
    /// Its parameters as a JSON Schema.
    pub parameters: String,
    /// Where to process it; absent when this server cannot process its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Its page for people.
    pub page: String,
}
