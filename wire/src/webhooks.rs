//! The answer to a delivery of a webhook.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Delivery {
    /// Its id, as the host gave it.
    pub delivery: String,
    /// What it was: `push`, `ping`, or `other`.
    #[schema(example = "push")]
    pub event: String,
    /// The registries that are looked at because of it.
    pub queued: Vec<String>,
    /// Why nothing was queued, if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
