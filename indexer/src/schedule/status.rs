//! How registries stand, and figures of the queue: what operators and people are shown.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use schema::RegistryName;

/// Ended syncs nobody has asked about yet; older ones are dropped.
const KEPT: usize = 4096;

/// What is being done about a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// In line for its turn.
    Waiting,
    /// Fetching and scanning; so many versions have come in.
    Scanning {
        /// Versions so far.
        versions: usize,
    },
    /// Putting what was found in the catalogue.
    Publishing,
    /// Up to date as of the last look.
    Ready,
    /// The last look failed; what was published stays.
    Failed {
        /// Why, in one sentence.
        message: String,
    },
    /// Nobody names it any more: what was published is served, and not brought up to date.
    Detached,
}

/// How a registry stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryStatus {
    /// Which.
    pub name: RegistryName,
    /// What is being done about it.
    pub state: State,
    /// When it was last found up to date or brought up to date: seconds since 1970, UTC.
    pub last_success: Option<i64>,
    /// When it is looked at next.
    pub next: Option<i64>,
}

/// How a sync ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Something new was published.
    Published,
    /// There was nothing new.
    Unchanged,
    /// It failed.
    Failed,
}

impl Outcome {
    /// The word for it in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Published => "published",
            Outcome::Unchanged => "unchanged",
            Outcome::Failed => "failed",
        }
    }
}

/// Figures of the queue.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SyncStatistics {
    /// Registries that are due and wait for a turn.
    pub queued: usize,
    /// Registries that are being synced.
    pub running: usize,
    /// How long the one that waits for the longest has waited.
    pub lag: Duration,
    /// Syncs that ended since this was last asked: how, and how long each took from its turn to its end.
    pub ended: Vec<(Outcome, Duration)>,
}

/// Syncs that ended, until somebody takes them.
#[derive(Debug, Default)]
pub(super) struct Ended(Mutex<VecDeque<(Outcome, Duration)>>);

impl Ended {
    pub(super) fn add(&self, outcome: Outcome, took: Duration) {
        let mut ended = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.len() == KEPT {
            ended.pop_front();
        }
        ended.push_back((outcome, took));
    }

    pub(super) fn take(&self) -> Vec<(Outcome, Duration)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}
