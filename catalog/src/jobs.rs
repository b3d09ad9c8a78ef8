//! Work to be done for registries, and who asked for a registry: what the store keeps so that a restart forgets neither.
//!
//! A job is a row, one for each registry and kind. It is taken by a lease, renewed while the work goes on and given
//! back with the time it is due again; so a process that was killed loses its jobs to whoever comes next, and no two
//! processes work on one registry. Jobs are taken in the order in which they became due, which is fair: whoever was
//! served goes to the end.
//!
//! This module must not know what a job does.

use schema::RegistryName;

/// Milliseconds since 1970, UTC.
pub type Milliseconds = i64;

/// What is to be done for a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobKind {
    /// Bringing it up to date with its source.
    Sync,
}

impl JobKind {
    /// The word kept in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            JobKind::Sync => "sync",
        }
    }
}

/// A job that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// For which registry.
    pub registry: RegistryName,
    /// Why, in the words of who asked last.
    pub cause: String,
    /// How often it failed since it last went well.
    pub attempts: u32,
    /// Since when it was due.
    pub due_at: Milliseconds,
}

/// Who asked for a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Flags, the environment or `formwork.toml`: named at every start.
    Settings,
    /// Somebody, while the server ran: synced again after a restart.
    Admin,
    /// A search of a host of repositories.
    Discovered,
    /// Nobody: it came to be when something was stored in it, and there is nothing to sync.
    Hosted,
}

impl Origin {
    /// The word kept in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Origin::Settings => "settings",
            Origin::Admin => "admin",
            Origin::Discovered => "discovered",
            Origin::Hosted => "hosted",
        }
    }

    pub(crate) fn from_stored(text: &str) -> Option<Origin> {
        [Origin::Settings, Origin::Admin, Origin::Discovered, Origin::Hosted]
            .into_iter()
            .find(|one| one.as_str() == text)
    }
}

/// A registry as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Its name.
    pub name: RegistryName,
    /// Who asked for it.
    pub origin: Origin,
    /// What it takes to sync it, in the words of whoever added it; holds no secret.
    pub config: Option<String>,
}
