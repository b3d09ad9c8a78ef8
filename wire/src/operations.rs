//! The answers to `/healthz`, `/readyz` and `GET /api/v1/status`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::registries::Sync;

/// Whether this server can answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ready {
    /// Whether requests should be sent here.
    pub ready: bool,
    /// The generation of the catalogue that is served, for whoever sees all of it: it tells of every change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// What was looked at.
    pub checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Check {
    /// What.
    pub name: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// Whether the server is unready without it; else it is worth knowing.
    pub required: bool,
    /// What was found.
    pub detail: String,
}

/// The state of the server: what the status page shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Status {
    /// The version of the program.
    pub version: String,
    /// The generation of the catalogue, for whoever sees all of it: it tells of every change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// The registries that the caller may see, troubled first.
    pub registries: Vec<RegistryStatus>,
    /// The processes that templates are processed in.
    pub workers: Workers,
}

/// How bringing one registry up to date goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistryStatus {
    /// The registry.
    pub name: String,
    /// How it goes.
    #[serde(flatten)]
    pub sync: Sync,
}

/// The processes that templates are processed in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Workers {
    /// How many there are.
    pub workers: usize,
    /// How many are at work.
    pub busy: usize,
    /// Requests that wait for one.
    pub queued: usize,
}
