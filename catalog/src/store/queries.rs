//! Every SQL statement there is, by name.
//!
//! In place of checking statements when compiling, which needs a database to compile against: a test prepares each
//! of these against a freshly migrated database. To add one, add it here; `queries!` puts it into [`QUERIES`], and
//! there is no way to run a statement that is not in this file ([`super::Store`] takes nothing else).
//!
//! Kept to what SQLite and PostgreSQL both understand.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A statement.
#[derive(Debug)]
pub(crate) struct Statement {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its text.
    pub(crate) sql: &'static str,
}

/// Rows that a widened statement inserts.
pub(crate) const ROWS: usize = 32;

/// A statement that inserts one row of `VALUES ($1, …)`, made to insert [`ROWS`] of them: a statement's way to the
/// database and back costs more than a row. Made once for each statement and kept.
pub(crate) fn widened(statement: &'static Statement) -> &'static Statement {
    static WIDE: Mutex<BTreeMap<&str, &Statement>> = Mutex::new(BTreeMap::new());
    let mut wide = WIDE.lock().unwrap_or_else(PoisonError::into_inner);
    wide.entry(statement.sql).or_insert_with(|| {
        let (before, rest) =
            statement.sql.split_once("VALUES (").expect("only statements that insert a row are widened");
        // The group of a row ends where its own parenthesis is closed.
        let mut depth = 1;
        let end = rest.find(|character| {
            depth += i32::from(character == '(') - i32::from(character == ')');
            depth == 0
        });
        let (group, after) = rest.split_at(end.expect("the parentheses of a statement are paired"));
        let width = numbers(group).max().unwrap_or(0);
        let rows = (0..ROWS).map(|row| format!("({})", renumbered(group, row * width)));
        let sql = format!("{before}VALUES {}{}", rows.collect::<Vec<_>>().join(", "), &after[1..]);
        Box::leak(Box::new(Statement { name: statement.name, sql: sql.leak() }))
    })
}

/// The placeholders of a text, by number.
fn numbers(text: &str) -> impl Iterator<Item = usize> {
    let digits = |piece: &str| piece.find(|c: char| !c.is_ascii_digit()).unwrap_or(piece.len());
    text.split('$').skip(1).filter_map(move |piece| piece[..digits(piece)].parse().ok())
}

/// A text with each placeholder `by` higher.
fn renumbered(text: &str, by: usize) -> String {
    let mut pieces = text.split('$');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for (piece, number) in pieces.zip(numbers(text)) {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str(&format!("${}{rest}", number + by));
    }
    out
}

macro_rules! queries {
    ($($name:ident = $sql:literal;)*) => {
        $(pub(crate) static $name: Statement = Statement { name: stringify!($name), sql: $sql };)*

        /// All of them, for the test that prepares them.
        #[cfg(test)]
        pub(crate) static QUERIES: &[&Statement] = &[$(&$name),*];
    };
}

queries! {
    // The table is the migrator's.
    MIGRATED = "SELECT version FROM _sqlx_migrations";
    IDENTITY = "SELECT identity FROM store WHERE id = 1";
    GENERATION = "SELECT COALESCE(MAX(generation), 0) FROM generations";
    NEXT_GENERATION = "INSERT INTO generations (registry, cause, at) VALUES ($1, $2, $3) RETURNING generation";

    LOAD_REGISTRIES = "SELECT id, name, source, branch, commit_id, indexed_at, title, description, maintainers, links, findings, failure, visibility
        FROM registries ORDER BY id";
    LOAD_COLLECTIONS = "SELECT registry, name, path, title, description, alias FROM collections ORDER BY registry, name";
    LOAD_VERSIONS = "SELECT r.registry, r.collection, r.template, r.version, r.digest, r.kind, r.entry, r.files, r.inspection,
            r.path, r.tree_id, r.commit_id, v.revision = r.id, v.findings, v.withdrawn, v.deprecated, v.published_at, v.gone_at,
            COALESCE(r.seen_at, r.published_at, 0), r.introduced_in, r.introduced_at, r.introduced_by, v.notes, v.settled_at,
            v.missing_at, v.held = r.id, v.held_findings, r.published_at IS NOT NULL, v.generation
        FROM revisions r
        JOIN versions v ON v.registry = r.registry AND v.collection = r.collection
            AND v.template = r.template AND v.version = r.version
        WHERE r.published_at IS NOT NULL OR v.held = r.id";
    LOAD_PURGES = "SELECT registry, collection, template, version, digest, whole, reason, at FROM purges";
    LOAD_PURGES_OF = "SELECT registry, collection, template, version, digest, whole, reason, at FROM purges WHERE registry = $1";

    ADD_REGISTRY = "INSERT INTO registries (canonical, name, source, visibility) VALUES ($1, $2, $3, $4)
        ON CONFLICT (canonical) DO UPDATE SET name = excluded.name, source = excluded.source, visibility = excluded.visibility
        RETURNING id";
    SET_ORIGIN = "UPDATE registries SET origin = $2, config = $3 WHERE id = $1";
    ORIGINS = "SELECT name, origin, config FROM registries ORDER BY canonical";
    REMOVE_REGISTRY_VERSIONS = "DELETE FROM versions WHERE registry = $1";
    REMOVE_REGISTRY = "DELETE FROM registries WHERE id = $1";
    SET_FAILURE = "UPDATE registries SET failure = $2 WHERE id = $1";
    LOOKED_AT = "UPDATE registries SET indexed_at = $2 WHERE id = $1";
    PUBLISH_REGISTRY = "UPDATE registries SET source = $2, branch = $3, commit_id = $4, indexed_at = $5, title = $6,
            description = $7, maintainers = $8, links = $9, findings = $10, failure = NULL
        WHERE id = $1";
    LOAD_TOKENS = "SELECT name, hash, scope, registries, created_at, expires_at, last_used_at FROM tokens";
    ADD_TOKEN = "INSERT INTO tokens (name, hash, scope, registries, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (name) DO NOTHING";
    REMOVE_TOKEN = "DELETE FROM tokens WHERE name = $1";
    TOKEN_USED = "UPDATE tokens SET last_used_at = $2 WHERE name = $1";
    CLEAR_COLLECTIONS = "DELETE FROM collections WHERE registry = $1";
    ADD_COLLECTION = "INSERT INTO collections (registry, name, path, title, description, alias) VALUES ($1, $2, $3, $4, $5, $6)";

    WRITE_REVISION = "INSERT INTO revisions (registry, collection, template, version, digest, kind, entry, files, inspection,
            path, tree_id, commit_id, seen_at, introduced_in, introduced_at, introduced_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
        ON CONFLICT (registry, collection, template, version, digest) DO UPDATE SET files = excluded.files,
            inspection = excluded.inspection, path = excluded.path, tree_id = excluded.tree_id,
            commit_id = excluded.commit_id, seen_at = excluded.seen_at, introduced_in = excluded.introduced_in,
            introduced_at = excluded.introduced_at, introduced_by = excluded.introduced_by
        WHERE revisions.published_at IS NULL";
    PUBLISH_ADDED = "UPDATE revisions SET published_at = $2 WHERE registry = $1 AND published_at IS NULL
        AND EXISTS (SELECT 1 FROM versions v WHERE v.revision = revisions.id)";
    ADD_VERSION = "INSERT INTO versions
            (registry, collection, template, version, revision, findings, withdrawn, deprecated, published_at, settled_at, notes,
            generation)
        VALUES ($1, $2, $3, $4, (SELECT r.id FROM revisions r WHERE r.registry = $1 AND r.collection = $2 AND r.template = $3
            AND r.version = $4 AND r.digest = $5), $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT (registry, collection, template, version) DO UPDATE SET revision = excluded.revision,
            findings = excluded.findings, withdrawn = excluded.withdrawn, deprecated = excluded.deprecated,
            settled_at = excluded.settled_at, gone_at = NULL, missing_at = NULL,
            notes = excluded.notes, held = NULL, held_findings = NULL, generation = excluded.generation";
    UPDATE_REVISION = "UPDATE revisions SET inspection = $6, path = $7, tree_id = $8, commit_id = $9, files = $10, seen_at = $11,
            introduced_in = $12, introduced_at = $13, introduced_by = $14, published_at = COALESCE(published_at, $15)
        WHERE registry = $1 AND collection = $2 AND template = $3 AND version = $4 AND digest = $5 RETURNING id";
    POINT_VERSION = "INSERT INTO versions
            (registry, collection, template, version, revision, findings, withdrawn, deprecated, published_at,
            settled_at, gone_at, missing_at, notes, held, held_findings, generation)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
        ON CONFLICT (registry, collection, template, version) DO UPDATE SET revision = excluded.revision,
            findings = excluded.findings, withdrawn = excluded.withdrawn, deprecated = excluded.deprecated,
            settled_at = excluded.settled_at, gone_at = excluded.gone_at, missing_at = excluded.missing_at,
            notes = excluded.notes, held = excluded.held, held_findings = excluded.held_findings,
            generation = excluded.generation";
    TOUCH_TEMPLATE = "UPDATE versions SET generation = $4 WHERE registry = $1 AND collection = $2 AND template = $3";
    REMOVE_VERSION = "DELETE FROM versions WHERE registry = $1 AND collection = $2 AND template = $3 AND version = $4";
    REMOVE_REVISION = "DELETE FROM revisions WHERE registry = $1 AND collection = $2 AND template = $3 AND version = $4 AND digest = $5";
    REMOVE_REVISIONS = "DELETE FROM revisions WHERE registry = $1 AND collection = $2 AND template = $3 AND version = $4";
    REMOVE_BLOB = "DELETE FROM blobs WHERE digest = $1";
    ADD_PURGE = "INSERT INTO purges (registry, collection, template, version, digest, whole, reason, at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (registry, collection, template, version, digest) DO UPDATE SET whole = excluded.whole,
            reason = excluded.reason, at = excluded.at";

    LOAD_REPORTS = "SELECT r.registry, r.collection, r.template, r.version, r.digest, p.engine, p.at, p.findings, p.needed
        FROM reports p JOIN revisions r ON r.id = p.revision";
    WRITE_REPORT = "INSERT INTO reports (revision, engine, at, findings, needed)
        SELECT id, $6, $7, $8, $9 FROM revisions
        WHERE registry = $1 AND collection = $2 AND template = $3 AND version = $4 AND digest = $5
        ON CONFLICT (revision) DO UPDATE SET engine = excluded.engine, at = excluded.at, findings = excluded.findings,
            needed = excluded.needed";

    ADD_CHANGE = "INSERT INTO changes (generation, registry, collection, template, version, what, digest, at, detail)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    DISRUPTED_SINCE = "SELECT COUNT(*) FROM generations WHERE generation > $1 AND registry = $2
        AND cause IN ('registry-removed', 'registry-changed', 'visibility-changed')";
    GENERATION_AT = "SELECT at FROM generations WHERE generation = $1";
    // What happened to a registry as a whole names no template; only its removal concerns the index.
    TOUCHED_SINCE = "SELECT DISTINCT registry, collection, template FROM changes
        WHERE generation > $1 AND (template <> '' OR what = 'registry-removed')";
    CHANGES_SINCE = "SELECT sequence, registry, collection, template, version, what, digest, at, detail FROM changes
        WHERE sequence > $1 ORDER BY sequence LIMIT $2";
    CHANGES_OF_REGISTRY = "SELECT sequence, registry, collection, template, version, what, digest, at, detail FROM changes
        WHERE registry = $1 AND what <> 'updated' ORDER BY sequence DESC LIMIT $2";
    CHANGES_OF_TEMPLATE = "SELECT sequence, registry, collection, template, version, what, digest, at, detail FROM changes
        WHERE registry = $1 AND collection = $2 AND template = $3 AND what <> 'updated' ORDER BY sequence DESC LIMIT $4";

    ASK_JOB = "INSERT INTO jobs (registry, kind, due_at, asked_at, cause)
        SELECT id, $2, $3, $3, $4 FROM registries WHERE canonical = $1
        ON CONFLICT (registry, kind) DO UPDATE SET asked_at = excluded.asked_at, cause = excluded.cause,
            due_at = CASE WHEN jobs.due_at < excluded.due_at THEN jobs.due_at ELSE excluded.due_at END";
    TAKE_JOB = "UPDATE jobs SET leased_at = $2, lease_owner = $3, lease_until = $4
        WHERE kind = $1 AND registry IN (SELECT registry FROM jobs WHERE kind = $1 AND due_at <= $2
            AND (lease_owner IS NULL OR (lease_until <= $2 AND lease_owner <> $3)) ORDER BY due_at, registry LIMIT 1)
        RETURNING registry, cause, attempts, due_at";
    NEXT_JOB = "SELECT MIN(CASE WHEN lease_owner IS NULL THEN due_at ELSE lease_until END) FROM jobs
        WHERE kind = $1 AND (lease_owner IS NULL OR lease_owner <> $2)";
    RENEW_JOBS = "UPDATE jobs SET lease_until = $3 WHERE kind = $1 AND lease_owner = $2";
    FINISH_JOB = "UPDATE jobs SET leased_at = NULL, lease_owner = NULL, lease_until = NULL, attempts = $4,
            due_at = CASE WHEN asked_at > leased_at THEN asked_at ELSE $5 END
        WHERE registry = $1 AND kind = $2 AND lease_owner = $3 RETURNING due_at";
    RELEASE_JOBS = "UPDATE jobs SET leased_at = NULL, lease_owner = NULL, lease_until = NULL
        WHERE kind = $1 AND lease_owner <> $2";
    DROP_JOB = "DELETE FROM jobs WHERE kind = $2 AND registry IN (SELECT id FROM registries WHERE canonical = $1)";

    HAS_BLOBS = "SELECT digest FROM blobs WHERE digest IN (
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
        $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44,
        $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57, $58, $59, $60, $61, $62, $63, $64, $65,
        $66, $67, $68, $69, $70, $71, $72, $73, $74, $75, $76, $77, $78, $79, $80, $81, $82, $83, $84, $85, $86,
        $87, $88, $89, $90, $91, $92, $93, $94, $95, $96, $97, $98, $99, $100, $101, $102, $103, $104, $105, $106,
        $107, $108, $109, $110, $111, $112, $113, $114, $115, $116, $117, $118, $119, $120, $121, $122, $123, $124,
        $125, $126, $127, $128, $129, $130, $131, $132, $133, $134, $135, $136, $137, $138, $139, $140, $141, $142,
        $143, $144, $145, $146, $147, $148, $149, $150, $151, $152, $153, $154, $155, $156, $157, $158, $159, $160,
        $161, $162, $163, $164, $165, $166, $167, $168, $169, $170, $171, $172, $173, $174, $175, $176, $177, $178,
        $179, $180, $181, $182, $183, $184, $185, $186, $187, $188, $189, $190, $191, $192, $193, $194, $195, $196,
        $197, $198, $199, $200, $201, $202, $203, $204, $205, $206, $207, $208, $209, $210, $211, $212, $213, $214,
        $215, $216, $217, $218, $219, $220, $221, $222, $223, $224, $225, $226, $227, $228, $229, $230, $231, $232,
        $233, $234, $235, $236, $237, $238, $239, $240, $241, $242, $243, $244, $245, $246, $247, $248, $249, $250,
        $251, $252, $253, $254, $255, $256)";
    ADD_BLOB = "INSERT INTO blobs (digest, size, encoding, content) VALUES ($1, $2, $3, $4) ON CONFLICT (digest) DO NOTHING";
    LOAD_BLOB = "SELECT size, encoding, content FROM blobs WHERE digest = $1";
    LOAD_WEBHOOK_DELIVERIES = "SELECT host, delivery FROM webhook_deliveries ORDER BY sequence";
    ADD_WEBHOOK_DELIVERY = "INSERT INTO webhook_deliveries (host, delivery, at) VALUES ($1, $2, $3) ON CONFLICT (host, delivery) DO NOTHING";
    FORGET_WEBHOOK_DELIVERIES = "DELETE FROM webhook_deliveries WHERE sequence <= (SELECT MAX(sequence) FROM webhook_deliveries) - $1";

    LOAD_DISCOVERED = "SELECT name, default_branch, description, stars, missing_since FROM discovered ORDER BY canonical";
    CLEAR_DISCOVERED = "DELETE FROM discovered";
    ADD_DISCOVERED = "INSERT INTO discovered (canonical, name, default_branch, description, stars, missing_since) VALUES ($1, $2, $3, $4, $5, $6)";

    FORGET_DEPLOYMENTS = "DELETE FROM deployments WHERE expires_at <= $1";
    COUNT_DEPLOYMENTS = "SELECT COUNT(*), COUNT(CASE owner WHEN $1 THEN 1 END) FROM deployments";
    MEASURE_MANIFESTS = "SELECT COALESCE(SUM(m.size), 0), COALESCE(SUM(CASE d.owner WHEN $1 THEN m.size END), 0)
        FROM manifests m JOIN deployments d ON d.id = m.deployment";
    ADD_DEPLOYMENT = "INSERT INTO deployments (owner, name, created_at, modified_at, expires_at) VALUES ($1, $2, $3, $3, $4)
        ON CONFLICT (owner, name) DO NOTHING RETURNING id";
    CHANGE_DEPLOYMENT = "UPDATE deployments SET modified_at = $3, expires_at = $4 WHERE owner = $1 AND name = $2 RETURNING id";
    REMOVE_DEPLOYMENT = "DELETE FROM deployments WHERE owner = $1 AND name = $2";
    ADD_MANIFEST = "INSERT INTO manifests (deployment, number, size, content) VALUES ($1, $2, $3, $4)";
    KEEP_MANIFESTS = "DELETE FROM manifests WHERE deployment = $1 AND number NOT IN
        (SELECT number FROM manifests WHERE deployment = $1 ORDER BY number DESC LIMIT $2)";
    LIST_DEPLOYMENTS = "SELECT name, created_at, modified_at, (SELECT MAX(number) FROM manifests m WHERE m.deployment = d.id)
        FROM deployments d WHERE owner = $1 AND expires_at > $2 ORDER BY id";
    FIND_DEPLOYMENT = "SELECT name, created_at, modified_at, (SELECT MAX(number) FROM manifests m WHERE m.deployment = d.id)
        FROM deployments d WHERE owner = $1 AND expires_at > $2 AND name = $3";
    LIST_MANIFESTS = "SELECT m.number FROM manifests m JOIN deployments d ON d.id = m.deployment
        WHERE d.owner = $1 AND d.expires_at > $2 AND d.name = $3 ORDER BY m.number";
    LOAD_MANIFEST = "SELECT m.content FROM manifests m JOIN deployments d ON d.id = m.deployment
        WHERE d.owner = $1 AND d.expires_at > $2 AND d.name = $3 AND m.number = $4";
    FORGET_REGISTRY_NAMES = "DELETE FROM registry_names WHERE expires_at <= $1";
    COUNT_REGISTRY_NAMES = "SELECT COUNT(*), COUNT(CASE owner WHEN $1 THEN 1 END) FROM registry_names WHERE owner <> $1 OR name <> $2";
    NAME_REGISTRY = "INSERT INTO registry_names (owner, name, content, expires_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (owner, name) DO UPDATE SET content = excluded.content, expires_at = excluded.expires_at";
    LIST_REGISTRY_NAMES = "SELECT name, content FROM registry_names WHERE owner = $1 AND expires_at > $2 ORDER BY name";

    // SQLite's own: folds the write-ahead log in when closing.
    CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)";
    // SQLite's own: a whole copy, consistent, before the schema is changed.
    COPY = "VACUUM INTO $1";
    ALL_BLOBS = "SELECT size, encoding, content, digest FROM blobs ORDER BY id DESC";

    // For fsck. The first two are SQLite's own.
    INTEGRITY = "PRAGMA integrity_check(20)";
    FOREIGN_KEYS = "PRAGMA foreign_key_check";
    ALL_REVISIONS = "SELECT r.id, g.name || '/' || r.collection || CASE r.collection WHEN '' THEN '' ELSE '/' END || r.template || ':' || r.version,
            r.digest, r.files, r.published_at IS NOT NULL OR r.id IN (SELECT held FROM versions WHERE held IS NOT NULL)
        FROM revisions r JOIN registries g ON g.id = r.registry ORDER BY r.id";
    MISPLACED_VERSIONS = "SELECT v.template || ':' || v.version FROM versions v JOIN revisions r ON r.id = v.revision
        WHERE r.registry <> v.registry OR r.collection <> v.collection OR r.template <> v.template
            OR r.version <> v.version OR r.published_at IS NULL";
    BLOBS_AFTER = "SELECT id, digest, size, encoding, content FROM blobs WHERE id > $1 ORDER BY id LIMIT 64";
    CHANGE_ORDER = "SELECT c.sequence, c.generation, g.generation IS NOT NULL
        FROM changes c LEFT JOIN generations g ON g.generation = c.generation ORDER BY c.sequence";
    FORGET_UNPUBLISHED = "DELETE FROM revisions
        WHERE published_at IS NULL AND id NOT IN (SELECT held FROM versions WHERE held IS NOT NULL)";
    FORGET_BLOB = "DELETE FROM blobs WHERE id = $1";
    FORGET_TREE = "UPDATE revisions SET tree_id = NULL WHERE id = $1";
}

/// Placeholders of [`HAS_BLOBS`].
pub(crate) const HAS_BLOBS_WIDTH: usize = 256;

/// Statements that are widened somewhere, for the test that prepares them.
#[cfg(test)]
pub(crate) static WIDENED: &[&Statement] = &[&ADD_BLOB, &WRITE_REVISION, &ADD_VERSION, &ADD_CHANGE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_widened_statement_takes_as_many_rows() {
        static ONE: Statement = Statement {
            name: "ONE",
            sql: "INSERT INTO t (a, b) VALUES ($1, (SELECT x FROM u WHERE y = $1 AND z = $2)) ON CONFLICT (a) DO NOTHING",
        };
        let wide = widened(&ONE).sql;
        assert!(
            wide.starts_with(
                "INSERT INTO t (a, b) VALUES ($1, (SELECT x FROM u WHERE y = $1 AND z = $2)), ($3, ("
            ),
            "{wide}"
        );
        assert!(wide.ends_with("y = $63 AND z = $64)) ON CONFLICT (a) DO NOTHING"), "{wide}");
    }
}
