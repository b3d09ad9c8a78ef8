//! How registries get in: fetch, scan, publish, again.
//!
//! Everything to do is a job in the store, given out in turn ([`schedule`]). Each sync runs in a child process under limits ([`scan::child`]): it fetches into a bare
//! mirror with gix (or opens a directory), walks the tree without a work tree, and streams what it finds back over
//! a pipe. The parent stores blobs ahead in small batches and publishes in one short transaction. Whatever fails
//! on the way leaves what was published untouched.
//!
//! [`history`] finds out, in the same child, which commit brought what is new.
//!
//! Only [`git`] knows gix; no gix type is in any signature outside it. This crate must not know HTTP, pages, or
//! how a template is processed.

mod connection;
pub mod directory;
mod git;
mod history;
mod publish;
mod remote;
pub mod scan;
mod schedule;
pub mod source;
mod watch;

pub use connection::{Connection, CredentialSource, Credentials, Secret, SshOptions, SupplyCredentials};
pub use remote::{Remote, RemoteError};
pub use scan::child::run_scan_child;
pub use scan::protocol::Submission;
pub use schedule::{
    Indexer, IndexerConfig, Outcome, RegistryConfig, RegistryStatus, State, StoreError, Stored, SyncError,
    SyncStatistics,
};
pub use source::{Addresses, GitUrl, Revision, Scheme, Source, SourceError};
