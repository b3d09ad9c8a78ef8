//! What Formwork remembers: registries, their versions and their bytes, and how to find them.
//!
//! # Three things in one directory
//!
//! | what | where | if it is lost |
//! |---|---|---|
//! | the store | `formwork.db` | everything is indexed anew; digests of replaced and gone versions are lost |
//! | the search index | `search/<format>/` | built anew from the store when opening |
//! | the lock | `lock` | nothing: it only matters while a process holds it |
//!
//! (`mirrors/` beside them is the indexer's.) One process opens a data directory at a time.
//!
//! # Reading
//!
//! [`Catalog::snapshot`] gives the whole catalogue as one immutable value ([`snapshot`]); a reference is resolved in
//! it ([`locate`]); bytes come from a cache in memory ([`Catalog::blob`]); [`Catalog::search`] asks the index and
//! filters what it says through the snapshot. None of these waits, and none runs SQL: [`Catalog::statements`] counts
//! every statement there is, so a test can say so.
//!
//! # Writing
//!
//! Bytes first ([`Catalog::put_blobs`]), in small batches; then [`Catalog::publish`], in this order, each step
//! harmless if the process ends behind it:
//!
//! 1. the difference to what is published is found in memory ([`apply`](self)); nothing different, nothing written;
//! 2. the facts of new contents are written ahead; nothing points at them;
//! 3. one transaction flips the pointers, logs the changes and takes the next generation: from here on a restart
//!    shows the new state;
//! 4. the snapshot in memory is swapped: readers see it;
//! 5. the search index commits with the same generation. If it cannot, it stays behind, searching works on what it
//!    has, and the next write or start brings it up to date from the change log.
//!
//! What an operator decides ([`Catalog::accept`], [`Catalog::purge`]) goes the same way, without a publication.
//!
//! # Who may see
//!
//! Every question carries a [`Viewer`]; [`RegistrySnapshot::visible_to`] is the one place that decides. What a token
//! stands for ([`Grant`]) is in memory too: looking a token up runs no SQL.
//!
//! Writers are one behind the other. A write that was begun runs to its end though its caller goes away.
//!
//! # What this crate must not know
//!
//! How templates come in (`indexer`), what they do (`engine`), and what a URL, a page or a status code is (`server`).
//! It alone knows that there is SQL and an index: no type of sqlx or tantivy is in its interface.

mod access;
mod apply;
mod blobs;
mod catalog;
mod changes;
mod deployments;
mod error;
#[cfg_attr(
    not(any(test, feature = "testing")),
    expect(unreachable_pub, dead_code, reason = "only tests, here and elsewhere, say where to stop")
)]
mod faults;
pub mod fsck;
mod hosted;
mod jobs;
mod locate;
mod lock;
mod publication;
mod report;
pub mod rules;
mod search;
pub mod snapshot;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use access::{
    Grant, Grants, NewToken, SECRET_PREFIX, Scope, Secret, TokenName, TokenNameError, Visibility, WordError,
    find_secret,
};
pub use apply::verdict::{Acceptance, Erasure};
pub use apply::{Policy, What};
pub use catalog::{Blob, CacheSize, Catalog, Opened, Options, Published, Purged};
pub use changes::{LogEntry, LogPage};
pub use deployments::{Deployment, DeploymentLimits, NamedRegistry, Owner, Refusal};
pub use error::{OpenError, ReadError, StoreError, WriteError};
#[cfg(any(test, feature = "testing"))]
pub use faults::{Faults, Point};
pub use hosted::{HOSTED, VersionRefused, next_version};
pub use jobs::{Job, JobKind, Milliseconds, Origin, Remembered};
pub use locate::{Missing, NEAR, Resolved};
pub use publication::{
    Facts, FileEntry, Introduced, Part, Publication, PublishedCollection, PublishedVersion, SyncFailure,
};
pub use report::{NeededReference, Report, ReportState, ReportedVersion};
pub use search::{Cursor, CursorError, FacetCount, Facets, Hit, Query, SearchAnswer, Snippet};
pub use snapshot::{
    CollectionSnapshot, Counts, Health, Purge, RegistrySnapshot, Snapshot, Standing, TemplateSnapshot,
    VersionSnapshot, Viewer,
};
pub use store::{Discovered, WEBHOOK_DELIVERIES, WebhookDelivery};
