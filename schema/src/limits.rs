//! Limits on what a version may be and on what a request may cost. Defaults are the design's.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Limits on one version directory and on the walk that finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// Bytes of all files of one version.
    pub version_bytes: u64,
    /// Files of one version.
    pub version_files: usize,
    /// Directories deep, inside a version.
    pub version_depth: usize,
    /// Entries of one directory; a larger directory is not read further.
    pub directory_entries: usize,
    /// Entries looked at in one walk of a registry.
    pub walk_entries: u64,
    /// Entries looked at below one collection for templates that are too deep to be referenced.
    pub group_entries: u64,
    /// Bytes of `registry.yaml`.
    pub registry_file_bytes: u64,
}

impl Default for TreeLimits {
    fn default() -> Self {
        TreeLimits {
            version_bytes: 20 << 20,
            version_files: 2_000,
            version_depth: 16,
            directory_entries: 200_000,
            walk_entries: 5_000_000,
            group_entries: 50_000,
            registry_file_bytes: 256 << 10,
        }
    }
}

/// What one processing may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Wall time until the worker is stopped.
    pub wall: Duration,
    /// The same where Python is run.
    pub python_wall: Duration,
    /// Memory of the worker, in bytes.
    pub memory: u64,
    /// Bytes of all output.
    pub output: u64,
    /// Objects produced.
    pub objects: usize,
    /// Steps of a template program; what a step is depends on the dialect.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            wall: Duration::from_secs(2),
            python_wall: Duration::from_secs(5),
            memory: 256 << 20,
            output: 8 << 20,
            objects: 10_000,
            steps: 20_000_000,
        }
    }
}

/// Bytes of one request to process.
pub const REQUEST_BYTES: usize = 4 << 20;

/// References one processing may ask for, over all rounds.
pub const REFERENCES: usize = 200;

/// Rounds of asking for references: how deep templates may refer to templates.
pub const REFERENCE_DEPTH: usize = 32;
