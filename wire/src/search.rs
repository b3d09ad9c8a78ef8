//! The answer to `GET /api/v1/search`.

use schema::Kind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::common::Health;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SearchAnswer {
    /// The query as it was understood.
    pub query: String,
    /// How many templates match.
    pub total: u64,
    /// The hits of this page, best first.
    pub hits: Vec<Hit>,
    /// The value of `cursor` for the next page; absent on the last. It holds whatever is published meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How the matches spread.
    pub facets: Facets,
    /// What the query was taken for, if a word had no match as it was typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<String>,
    /// What was not understood or cut, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// One template that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Hit {
    /// The full reference without a version: the newest.
    #[schema(example = "github.com/acme/templates/databases/redis")]
    pub reference: String,
    /// Its registry.
    pub registry: String,
    /// Its collection; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
    /// Its name.
    pub template: String,
    /// Its newest version.
    pub version: String,
    /// What it is.
    #[schema(value_type = String, example = "template")]
    pub kind: Kind,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Kinds of the objects it makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub object_kinds: Vec<String>,
    /// Its newest version's worst finding.
    pub health: Health,
    /// The part of its texts that shows why it was found, in pieces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snippet: Vec<Marked>,
    /// Whether all its versions are withdrawn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
    /// Whether its newest version is on its way out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// Whether its name is exactly what was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// Where it is described.
    pub url: String,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Marked {
    /// The piece.
    pub text: String,
    /// Whether it is a word that matched.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
}

/// How the matches spread over what they can be narrowed by, by the names of the parameters. Each of `kind`,
/// `registry`, `collection` and `health` counts as if it were not narrowed by itself; `has` and `tag` count the matches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Facets {
    /// By kind.
    pub kind: Vec<Facet>,
    /// By registry.
    pub registry: Vec<Facet>,
    /// By collection; `/` is the root.
    pub collection: Vec<Facet>,
    /// By health: `healthy`, `warnings`, `errors`.
    #[serde(default)]
    pub health: Vec<Facet>,
    /// By the kinds of objects they make.
    #[serde(default)]
    pub has: Vec<Facet>,
    /// By tag.
    #[serde(default)]
    pub tag: Vec<Facet>,
}

/// One value and how many matches have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Facet {
    /// The value, as the query parameter takes it.
    pub value: String,
    /// How many.
    pub count: u64,
}
