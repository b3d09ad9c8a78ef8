//! What became of versions: the answers to `GET …/-/history`, `GET /api/v1/changes`, and what an operator decides.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::common::Notice;

/// Everything that ever was published under the versions of a template, or under one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct History {
    /// The template, or the version.
    #[schema(example = "github.com/acme/templates/redis")]
    pub reference: String,
    /// Contents: of the highest version first, and of a version what is served first, then the newest.
    pub revisions: Vec<Revision>,
    /// The value of `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One content of one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Revision {
    /// The version.
    #[schema(example = "v1.0.4")]
    pub version: String,
    /// The digest of its files.
    pub digest: String,
    /// What became of it.
    pub standing: Standing,
    /// Since when it is gone or erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Why it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The commit that brought it, by the first-parent history of the branch, or whoever stored it here. Not there if it
    /// came from a plain directory, or from further back than history is walked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introduced: Option<Introduced>,
    /// When this server first saw it, and the commit the branch was at then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// When the version was first published here, with whatever content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// From when on the version keeps its content; not there for plain directories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<String>,
    /// Why the version is no longer chosen, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Notice>,
    /// Why the version is on its way out, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Notice>,
}

/// What became of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is what the version is.
    Served,
    /// It was what the version is; its digest still gets it.
    Former,
    /// Upstream has it in place of a settled version; it is not served.
    Held,
    /// It is not upstream any more; the exact version and its digest still get it.
    Gone,
    /// An operator erased it.
    Purged,
}

impl Standing {
    /// The word used in JSON and on pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Standing::Served => "served",
            Standing::Former => "former",
            Standing::Held => "held",
            Standing::Gone => "gone",
            Standing::Purged => "purged",
        }
    }
}

/// What brought a content: a commit, or whoever stored it on this server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Introduced {
    /// The commit; not there for what was stored on this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When it was committed, as Git says, or stored.
    pub time: String,
    /// The name of its author, as Git says; of what was stored on this server the name of the token.
    pub author: String,
}

/// When a content was first seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Seen {
    /// The commit the branch was at; not there for plain directories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When.
    pub time: String,
}

/// A part of the change log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Changes {
    /// What happened, oldest first.
    pub changes: Vec<Change>,
    /// What to send as `since` for what follows. It is the same as before if nothing happened.
    pub next: u64,
    /// Whether more is there already.
    pub more: bool,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Change {
    /// Its place in the log. Rises and never repeats; there are gaps.
    pub sequence: u64,
    /// When.
    pub at: String,
    /// What, in a word: `added`, `changed`, `revised`, `updated`, `withdrawn`, `deprecated`, `held`, `cleared`,
    /// `accepted`, `gone`, `returned`, `purged`; of a registry as a whole `registry-added`, `drop-held`, `drop-accepted`,
    /// `history-rewritten`, `history-accepted`. There may be more words later.
    #[schema(example = "added")]
    pub what: String,
    /// The registry.
    pub registry: String,
    /// The collection; not there for templates of the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
    /// The template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The reference to exactly that version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The content that is news: what is served now, held now, gone or erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Why, or how many, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What an operator lets in: one of the three.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptRequest {
    /// The version whose rewrite is let in: `[collection/]template:version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "databases/redis:v1.0.0")]
    pub version: Option<String>,
    /// The digest of that rewrite, so that nothing is let in that was not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// That versions are gone which went missing all at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drop: bool,
    /// That the branch was moved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub history: bool,
}

/// What came of an acceptance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Accepted {
    /// What was let in, in a sentence.
    pub accepted: String,
    /// The generation of the catalogue in which readers see it.
    pub generation: u64,
}

/// What an operator has erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeRequest {
    /// The version, `[collection/]template:version`: all there ever was of it, and nothing is published under it any
    /// more. With `@sha256:…` behind it only that content.
    #[schema(example = "databases/redis:v1.0.0")]
    pub reference: String,
    /// Why; everybody who asks for it later is told.
    pub reason: String,
}

/// What came of a purge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Purged {
    /// The contents that are not given out any more.
    pub digests: Vec<String>,
    /// Files that were erased.
    pub files: usize,
    /// Files that other contents have too, and that stay.
    pub files_kept: usize,
    /// The generation of the catalogue in which readers see it.
    pub generation: u64,
}
