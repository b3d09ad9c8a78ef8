//! The SQL store: one file, one writer, and every statement counted.
//!
//! SQLite in WAL mode with `synchronous=NORMAL`: a power cut may lose the last publication, never half of one, and
//! the next sync brings it back. One connection writes; a few read, and only for bytes that are not in memory. The
//! only way to run a statement is [`Store::query`], which counts; so `statements()` is the truth about the read
//! path.
//!
//! This module and its children are the only ones that know there is SQL. They must not know what a snapshot is
//! for.

mod deliveries;
mod deployments;
mod discovered;
mod fsck;
mod jobs;
mod load;
mod log;
pub(crate) mod queries;
mod reports;
mod tokens;
mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, SqlSafeStr, Sqlite, SqliteConnection, SqlitePool};
use tokio::sync::Mutex;

pub use deliveries::{WEBHOOK_DELIVERIES, WebhookDelivery};
pub(crate) use deployments::Recording;
pub use discovered::Discovered;
pub(crate) use load::Warming;
pub(crate) use log::Logged;
use queries::Statement;
pub(crate) use write::spelled;

use crate::error::{OpenError, StoreError};

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

/// The database.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    writer: Mutex<SqliteConnection>,
    readers: SqlitePool,
    statements: AtomicU64,
}

impl Store {
    /// Opens the database, makes it if there is none, and brings its schema up to date.
    pub(crate) async fn open(path: &Path) -> Result<Store, OpenError> {
        let failed = |error| store_error(path, error);
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            // What is erased is overwritten, not only forgotten. Costs nothing while nothing is deleted.
            .pragma("secure_delete", "ON")
            // A first look at a large registry writes as much as there is: folded in now and then, not every 4 MiB.
            .pragma("wal_autocheckpoint", "8192")
            // Rows are found by digests, which are spread over the whole index.
            .pragma("cache_size", "-32768")
            .busy_timeout(Duration::from_secs(10))
            // Each statement would be looked at twice and timed for a log that nobody reads.
            .disable_statement_logging();
        let is_new = !path.exists();
        let writer = SqliteConnection::connect_with(&options).await.map_err(failed)?;
        // Opened when first needed: most reads are answered from memory.
        let readers = SqlitePoolOptions::new()
            .max_connections(3)
            .min_connections(0)
            .acquire_timeout(Duration::from_secs(10))
            .connect_lazy_with(options.create_if_missing(false).read_only(true));
        let store = Store {
            path: path.to_owned(),
            writer: Mutex::new(writer),
            readers,
            statements: AtomicU64::new(0),
        };
        store.migrate(is_new).await?;
        Ok(store)
    }

    /// Brings the schema up to date. Whatever an older version wrote is copied first, beside the database.
    async fn migrate(&self, is_new: bool) -> Result<(), OpenError> {
        let mut writer = self.writer.lock().await;
        let migrations = migrations();
        if !is_new {
            // A database without that table was never migrated: a process ended while it was made.
            let rows = self.query(&queries::MIGRATED).fetch_all(&mut *writer).await.unwrap_or_default();
            let applied = rows.iter().map(|row| self.get::<i64>(row, 0)).collect::<Result<Vec<_>, _>>()?;
            let known = || migrations.iter().map(|migration| migration.version);
            let is_newer = applied.iter().any(|applied| known().all(|known| known != *applied));
            let pending = known().filter(|version| !applied.contains(version)).min();
            if let Some(next) = pending.filter(|_| !applied.is_empty() && !is_newer) {
                self.copy(&mut writer, next).await?;
            }
        }
        migrations.run(&mut *writer).await.map_err(|error| match error {
            MigrateError::VersionMissing(migration) => {
                OpenError::Newer { path: self.path.clone(), migration }
            }
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                self.error(error).into()
            }
            other => StoreError::Other { path: self.path.clone(), cause: other.into() }.into(),
        })
    }

    /// Copies the database to `formwork.db.before-N`, where N is the migration that is run next.
    async fn copy(&self, writer: &mut SqliteConnection, next: i64) -> Result<(), OpenError> {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".before-{next}"));
        let copy = PathBuf::from(name);
        let failed = |cause| OpenError::Directory { path: copy.clone(), cause };
        match std::fs::remove_file(&copy) {
            // The copy of a migration that was begun and not finished: the database is still what it was.
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let target = copy.display().to_string();
        self.query(&queries::COPY).bind(target).execute(writer).await.map_err(|error| self.error(error))?;
        tracing::info!(copy = %copy.display(), "the store is of an older version; it was copied and is migrated");
        Ok(())
    }

    /// How many statements were run.
    pub(crate) fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    /// A statement, ready for its values; counted as run, for there is no other reason to ask for it.
    fn query(&self, statement: &'static Statement) -> Query {
        self.statements.fetch_add(1, Ordering::Relaxed);
        sqlx::query(statement.sql)
    }

    fn error(&self, error: sqlx::Error) -> StoreError {
        store_error(&self.path, error)
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.into() }
    }

    /// Waits for what is running and folds the write-ahead log in. What is not folded in is not lost.
    pub(crate) async fn close(&self) {
        self.readers.close().await;
        self.fold().await;
    }

    /// Folds the write-ahead log into the database, so that it holds nothing of what was erased.
    pub(crate) async fn fold(&self) {
        let mut writer = self.writer.lock().await;
        if let Err(error) = self.query(&queries::CHECKPOINT).execute(&mut *writer).await {
            tracing::warn!(error = %self.error(error), "the write-ahead log was not folded in");
        }
    }
}

/// Every step from an empty file to the schema of today, in order. What is here was released: it is never edited.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "catalog", include_str!("../../../migrations/0001_catalog.sql")),
    (2, "history", include_str!("../../../migrations/0002_history.sql")),
    (3, "jobs", include_str!("../../../migrations/0003_jobs.sql")),
    (4, "access", include_str!("../../../migrations/0004_access.sql")),
    (5, "reports", include_str!("../../../migrations/0005_reports.sql")),
    (6, "github", include_str!("../../../migrations/0006_github.sql")),
    (7, "unpublished", include_str!("../../../migrations/0007_unpublished.sql")),
    (8, "deployments", include_str!("../../../migrations/0008_deployments.sql")),
    (11, "generations", include_str!("../../../migrations/0011_generations.sql")),
];

fn migrations() -> Migrator {
    let migration = |&(version, description, sql): &(i64, &'static str, &'static str)| {
        Migration::new(version, description.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(MIGRATIONS.iter().map(migration).collect())
}

/// Tells a full disk, a read-only file and a damaged one apart, by SQLite's primary result codes.
fn store_error(path: &Path, error: sqlx::Error) -> StoreError {
    let path = path.to_owned();
    let code = match &error {
        sqlx::Error::Database(error) => error.code().and_then(|code| code.parse::<u32>().ok()),
        _ => None,
    };
    match code.map(|code| code & 0xff) {
        Some(8) => StoreError::ReadOnly { path },
        Some(13) => StoreError::Full { path },
        Some(11 | 26) => StoreError::Damaged { path, what: error.to_string() },
        _ => match error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                StoreError::Damaged { path, what: error.to_string() }
            }
            error => StoreError::Other { path, cause: Box::new(error) },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::Executor;

    async fn fresh() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().join("formwork.db")).await.unwrap();
        (directory, store)
    }

    #[tokio::test]
    async fn every_statement_fits_the_schema() {
        let (_directory, store) = fresh().await;
        let mut writer = store.writer.lock().await;
        let widened = queries::WIDENED.iter().map(|statement| queries::widened(statement));
        for statement in queries::QUERIES.iter().copied().chain(widened) {
            let prepared = writer.prepare(statement.sql.into_sql_str()).await;
            assert!(prepared.is_ok(), "{}: {}", statement.name, prepared.err().unwrap());
        }
        let tables = sqlx::query_scalar::<_, String>(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%STRICT%' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_sqlx%' ESCAPE '\\'",
        );
        assert_eq!(tables.fetch_all(&mut *writer).await.unwrap(), Vec::<String>::new(), "tables are STRICT");
    }

    /// A statement is run where it is counted, or not at all.
    #[test]
    fn statements_are_run_in_one_place() {
        let sources = [
            include_str!("jobs.rs"),
            include_str!("deliveries.rs"),
            include_str!("deployments.rs"),
            include_str!("discovered.rs"),
            include_str!("load.rs"),
            include_str!("log.rs"),
            include_str!("tokens.rs"),
            include_str!("write.rs"),
            include_str!("fsck.rs"),
            include_str!("reports.rs"),
            include_str!("../catalog.rs"),
            include_str!("../blobs.rs"),
        ];
        for source in sources {
            assert!(!source.contains("sqlx::query"), "only Store::query may make a query");
        }
        let own = include_str!("mod.rs").split("#[cfg(test)]").next().unwrap();
        assert_eq!(own.matches("sqlx::query(").count(), 1);
    }

    #[tokio::test]
    async fn a_full_disk_is_told_from_other_trouble() {
        let (_directory, store) = fresh().await;
        sqlx::query("PRAGMA max_page_count = 40").execute(&mut *store.writer.lock().await).await.unwrap();
        let mut seed = 1u64;
        let mut noise = || {
            (0..40_000)
                .map(|_| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (seed >> 56) as u8
                })
                .collect::<Vec<_>>()
        };
        let mut last = Ok(());
        for _ in 0..10 {
            let content = noise();
            last = store.put_blobs(vec![(schema::Digest::of(&content), content.len(), 0, content)]).await;
        }
        assert!(matches!(last, Err(StoreError::Full { .. })), "{last:?}");
    }

    #[tokio::test]
    async fn a_database_of_a_newer_version_is_refused() {
        let (directory, store) = fresh().await;
        let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (999, 'x', 1, x'00', 0)";
        sqlx::query(newer).execute(&mut *store.writer.lock().await).await.unwrap();
        store.close().await;
        drop(store);
        let error = Store::open(&directory.path().join("formwork.db")).await.unwrap_err();
        assert!(matches!(error, OpenError::Newer { migration: 999, .. }), "{error}");
    }

    /// A store as the first released schema left it, with data.
    async fn first_released(path: &Path) {
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
        let mut older = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::raw_sql(include_str!("../../../migrations/0001_catalog.sql"))
            .execute(&mut older)
            .await
            .unwrap();
        sqlx::raw_sql(include_str!("../tests/stores/0001.sql")).execute(&mut older).await.unwrap();
        older.close().await.unwrap();
    }

    /// Attack row 34: a store of an older version is copied, migrated, and loses nothing.
    #[tokio::test]
    async fn a_database_of_an_older_version_is_copied_and_migrated() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("formwork.db");
        first_released(&path).await;
        let copy = directory.path().join("formwork.db.before-2");
        // What is left of an attempt that was interrupted is in nobody's way.
        std::fs::write(&copy, "half a copy").unwrap();
        let store = Store::open(&path).await.unwrap();
        let loaded = store.load().await.unwrap();
        let registry = loaded.snapshot.registries.values().next().unwrap().clone();
        let redis = registry.templates().next().unwrap();
        assert_eq!((redis.versions.len(), redis.gone.len(), redis.former.len()), (1, 1, 1));
        let served = redis.latest().unwrap();
        assert_eq!((served.published_at, served.seen_at, served.settles_at), (1_000, 1_500, Some(4_600)));
        assert!(served.introduced.is_none() && served.notes.is_empty() && redis.held.is_empty());
        assert_eq!(served.inspection.description.as_deref(), Some("An in-memory store"));
        assert_eq!(store.changes_since(0, 10).await.unwrap().len(), 2);
        assert!(store.load_blob(&served.files[0].digest).await.unwrap().is_some());
        store.close().await;
        drop(store);

        // The copy is what it was: the older version can go on with it.
        let options = SqliteConnectOptions::new().filename(&copy);
        let mut older = SqliteConnection::connect_with(&options).await.unwrap();
        let versions = sqlx::query_scalar::<_, i64>("SELECT MAX(version) FROM _sqlx_migrations");
        assert_eq!(versions.fetch_one(&mut older).await.unwrap(), 1);
        let rows = sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM revisions").fetch_one(&mut older).await;
        assert_eq!(rows.unwrap(), 4);
        older.close().await.unwrap();

        // Once migrated, there is nothing to copy.
        std::fs::remove_file(&copy).unwrap();
        Store::open(&path).await.unwrap().close().await;
        assert!(!copy.exists());
    }

    #[tokio::test]
    async fn what_is_no_database_is_called_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("formwork.db");
        std::fs::write(
            &path,
            "this is a text, not a database, and long enough to be looked at as one".repeat(20),
        )
        .unwrap();
        let error = Store::open(&path).await.unwrap_err();
        assert!(matches!(error, OpenError::Store(StoreError::Damaged { .. })), "{error}");
    }
}
