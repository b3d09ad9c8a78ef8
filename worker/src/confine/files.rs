//! Which files a process can reach by name: landlock. Descriptors that are open already stay usable.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope, path_beneath_rules,
};
use serde::{Deserialize, Serialize};

use super::{Calls, Guard};

/// What we ask for; older kernels give what they have of it, and the report says so.
const WANTED: ABI = ABI::V6;

/// The files that stay within reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Files {
    /// Whatever the user may.
    #[default]
    Any,
    /// What lies beneath these; paths that do not exist are passed over.
    Only {
        /// To read, list and execute.
        readable: Vec<PathBuf>,
        /// To do anything with.
        writable: Vec<PathBuf>,
    },
}

impl Files {
    /// No file at all.
    pub fn none() -> Files {
        Files::Only { readable: Vec::new(), writable: Vec::new() }
    }
}

pub(super) fn restrict(files: &Files, calls: Calls) -> Guard {
    let Files::Only { readable, writable } = files else { return Guard::NotAsked };
    let network = matches!(calls, Calls::Any | Calls::Network | Calls::NetworkAndPrograms);
    match apply(readable, writable, network) {
        Ok(RulesetStatus::FullyEnforced) => Guard::Full,
        Ok(RulesetStatus::PartiallyEnforced) => {
            Guard::Partial("this kernel's landlock is older than ABI 6".to_owned())
        }
        Ok(RulesetStatus::NotEnforced) => {
            Guard::Missing("this kernel has no landlock, or it is off".to_owned())
        }
        Err(error) => Guard::Missing(error.to_string()),
    }
}

fn apply(readable: &[PathBuf], writable: &[PathBuf], network: bool) -> Result<RulesetStatus, RulesetError> {
    let mut rules = Ruleset::default().handle_access(AccessFs::from_all(WANTED))?;
    if !network {
        // No port is named below, so none can be bound or connected to.
        rules = rules.handle_access(AccessNet::from_all(WANTED))?;
    }
    let status = rules
        .scope(Scope::from_all(WANTED))?
        .create()?
        .add_rules(path_beneath_rules(readable, AccessFs::from_read(WANTED)))?
        .add_rules(path_beneath_rules(writable, AccessFs::from_all(WANTED)))?
        .restrict_self()?;
    Ok(status.ruleset)
}
