//! What clients of Deployment Manager keep in the catalogue: recorded deployments, and names for registries.
//!
//! They belong to whoever made them and are nobody else's to see; they end by themselves, and are few: they are a
//! convenience for clients that expect a manager, not a store of record. What a manifest says means nothing here.
//!
//! This module must not know what a configuration is, nor who may record one (`server`).

use crate::access::Grant;

/// Whose a deployment is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner(pub(crate) String);

impl Owner {
    /// Whoever is on the machine of the server and has shown no token. All of them are one.
    pub fn local() -> Owner {
        Owner(String::new())
    }

    /// Whoever holds a token.
    pub fn of(grant: &Grant) -> Owner {
        Owner(grant.id())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A deployment that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// Its name; no two of one owner have the same.
    pub name: String,
    /// When it was first recorded: nanoseconds since 1970, UTC.
    pub created_at: i64,
    /// When it was last recorded: nanoseconds since 1970, UTC.
    pub modified_at: i64,
    /// The number of its newest manifest.
    pub latest: i64,
}

/// How much is kept, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeploymentLimits {
    /// Deployments of one owner.
    pub each: u32,
    /// Bytes of all manifests of one owner.
    pub each_bytes: u64,
    /// Manifests of one deployment; the oldest give way.
    pub manifests: u32,
    /// Seconds after which a deployment that was not recorded again is forgotten.
    pub lifetime: u32,
}

impl DeploymentLimits {
    /// How many owners' worth there may be in all.
    const OWNERS: u64 = 10;

    /// Deployments of all owners together.
    pub fn all(&self) -> u64 {
        u64::from(self.each) * Self::OWNERS
    }

    /// Bytes of all manifests there are.
    pub fn all_bytes(&self) -> u64 {
        self.each_bytes.saturating_mul(Self::OWNERS)
    }
}

impl Default for DeploymentLimits {
    fn default() -> DeploymentLimits {
        DeploymentLimits { each: 100, each_bytes: 32 << 20, manifests: 20, lifetime: 24 * 60 * 60 }
    }
}

/// A name that somebody gave to a registry, with what they said of it: a JSON document that means nothing here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRegistry {
    /// The name.
    pub name: String,
    /// What was said.
    pub content: String,
}

/// Why a deployment was not recorded although the store is well.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is one of that name.
    #[error("Deployment {0} already exists")]
    Exists(String),
    /// There is none of that name.
    #[error("deployment {0} not found")]
    Unknown(String),
    /// It is more than may be kept.
    #[error("{0}")]
    Full(String),
}
