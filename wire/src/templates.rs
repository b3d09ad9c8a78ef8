//! The answers to `GET /api/v1/templates/<reference>` and, below it, `/-/versions`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::common::{Finding, Health, Notice};
use crate::resolve::Resolved;

/// Everything known of one version, and the versions beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Template {
    /// The version the reference gets, as `resolve` answers it.
    #[serde(flatten)]
    pub resolved: Resolved,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words it is tagged with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// A link to documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    /// A link to support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support: Option<String>,
    /// Kinds of the objects it makes, as far as its text tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub object_kinds: Vec<String>,
    /// When this catalogue first published it.
    pub published: String,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// Whether its example has been processed; until then findings may come.
    pub report: Report,
    /// The newest versions of the template, a hundred at most, newest first.
    pub versions: Vec<Version>,
    /// Where all of them are listed.
    pub versions_url: String,
}

/// The versions of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VersionList {
    /// The template.
    #[schema(example = "github.com/acme/templates/redis")]
    pub reference: String,
    /// The versions, newest first.
    pub versions: Vec<Version>,
    /// The value of `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Whether the example of a version has been processed since it was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// Where it stands.
    pub state: ReportState,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
}

/// Where a report stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReportState {
    /// It will be made.
    Pending,
    /// Its findings are among the others.
    Made,
}

/// One version in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Version {
    /// The version in full.
    #[schema(example = "v1.0.4")]
    pub version: String,
    /// The reference to exactly that version and its bytes.
    pub pinned: String,
    /// The digest of its files.
    pub digest: String,
    /// What it is.
    #[schema(value_type = String, example = "template")]
    pub kind: schema::Kind,
    /// Its worst finding.
    pub health: Health,
    /// When this catalogue first published it.
    pub published: String,
    /// When the commit that brought its content was made, if the registry is a Git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introduced: Option<String>,
    /// The commit its content was first seen at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Why it is no longer chosen, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Notice>,
    /// Why it is on its way out, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Notice>,
    /// Where it is described.
    pub url: String,
}
