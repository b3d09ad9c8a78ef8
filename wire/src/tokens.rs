//! The bodies of `/api/v1/tokens`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Every token there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenList {
    /// The tokens, sorted by name.
    pub tokens: Vec<Token>,
    /// The value of `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A token, without its secret, which nobody has but its holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Token {
    /// What it is for.
    #[schema(example = "ci")]
    pub name: String,
    /// What it lets its holder do: `read`, `write` or `admin`; each includes those before it.
    #[schema(example = "read")]
    pub scope: String,
    /// The registries it is limited to; absent: it is not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registries: Option<Vec<String>>,
    /// When it was made.
    pub created: String,
    /// When it ends by itself; absent: when it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// When it was last used, to the minute or so; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<String>,
}

/// A token to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// What it is for: letters, digits, `-`, `_`, `.`, `@` and `/`. No two tokens have one name.
    #[schema(example = "ci")]
    pub name: String,
    /// `read`, `write` or `admin`.
    #[schema(example = "read")]
    pub scope: String,
    /// The registries it is limited to; absent: it is not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registries: Option<Vec<String>>,
    /// How long it is good, in seconds; absent: until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<u64>,
}

/// A token that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedToken {
    /// What it is.
    #[serde(flatten)]
    pub token: Token,
    /// Its secret, said once: it is not kept.
    #[schema(example = "fwk_…")]
    pub secret: String,
}
