-- Who asked for a registry, and work to be done for it.

-- `settings`: flags or the file; it is gone from there when it is not named at a start. `admin` and `discovered`: added
-- while the server ran; `config` is what it takes to sync it again after a restart, as JSON without any secret.
ALTER TABLE registries ADD COLUMN origin TEXT NOT NULL DEFAULT 'settings';
ALTER TABLE registries ADD COLUMN config TEXT;

-- At most one job of a kind for a registry, however often somebody asks. Times are milliseconds since 1970 in UTC.
-- A job is taken by a lease; a lease that has run out, or whose owner is known to be dead, is anybody's.
-- Asked for behind `leased_at`, the job is due again as soon as the lease is given back.
CREATE TABLE jobs (
    registry    INTEGER NOT NULL REFERENCES registries (id) ON DELETE CASCADE,
    kind        TEXT NOT NULL,
    due_at      INTEGER NOT NULL,
    asked_at    INTEGER NOT NULL,
    cause       TEXT NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    leased_at   INTEGER,
    lease_owner TEXT,
    lease_until INTEGER,
    PRIMARY KEY (registry, kind)
) STRICT;
CREATE INDEX jobs_by_due_at ON jobs (kind, due_at);
