//! What can go wrong with the data directory, each with the path and the way out.
//!
//! SQLite's numbers are read here and nowhere else: a full disk, a read-only file and a damaged page are three
//! different things to an operator.

use std::path::PathBuf;

use schema::{Digest, RegistryName};

/// Why a data directory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("{} is in use{}; stop that server, or give this one another --data", .directory.display(), by(.pid))]
    InUse {
        /// The data directory.
        directory: PathBuf,
        /// The process that holds it, as far as the lock file tells.
        pid: Option<u32>,
    },
    /// The directory cannot be made, or a file in it not be opened.
    #[error("{}: {cause}; the data directory must be on a local disk and writable for this user", .path.display())]
    Directory {
        /// What could not be made or opened.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// A newer Formwork wrote it.
    #[error(
        "{} was written by a newer version (migration {migration} is unknown here); run that version, or restore the copy made before it", .path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The first migration that is not known here.
        migration: i64,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The search index cannot be made, which needs nothing but a writable directory.
    #[error("{}: the search index cannot be made: {cause}; delete that directory, it is derived", .path.display())]
    Search {
        /// The index's directory.
        path: PathBuf,
        /// What tantivy says.
        cause: String,
    },
}

fn by(pid: &Option<u32>) -> String {
    pid.map_or_else(|| " by another process".to_owned(), |pid| format!(" by process {pid}"))
}

/// What the database answered in place of doing what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No room.
    #[error("{}: the disk is full; free some space, nothing that was published is lost", .path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// No right to write.
    #[error("{}: the file or its directory is read-only; make it writable for this user", .path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// What is in it is not what was written.
    #[error("{}: the database is damaged: {what}; restore a copy, or delete the data directory to index anew", .path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// Anything else.
    #[error("{}: {cause}", .path.display())]
    Other {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why something was not written. What was there before is there still.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The database did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nobody added the registry, or somebody removed it meanwhile.
    #[error("there is no registry `{0}` here; add it before publishing it")]
    UnknownRegistry(RegistryName),
    /// There is nothing of the kind to accept or to erase.
    #[error("{0}")]
    Nothing(String),
    /// Bytes are not what their digest says.
    #[error("what was handed over as {named} has the digest {found}; read it again from its source")]
    Digest {
        /// The digest it came with.
        named: Digest,
        /// The digest it has.
        found: Digest,
    },
    /// A version names a file whose bytes were not stored before.
    #[error("{path} names {digest}, which was not stored; store the bytes before publishing")]
    BlobMissing {
        /// The version's directory and the file in it.
        path: String,
        /// The digest of the file.
        digest: Digest,
    },
    /// The system gave no randomness for a secret.
    #[error("the system's random generator failed: {0}; without it there are no secrets")]
    Random(String),
    /// The catalogue was closed, or a test stopped it here.
    #[error("the catalogue is closed")]
    Closed,
}

/// Why bytes could not be read that are there.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ReadError(#[from] pub StoreError);
