-- What the catalogue remembers. Portable subset: STRICT types, $1 placeholders, ON CONFLICT, RETURNING.
-- Times are seconds since 1970 in UTC. Digests are their 32 bytes. The root collection is the empty text.
-- Structured details are JSON text, written and read by one place in the code and never searched here.

-- One row: tells this store from another, so that an index built from another store is not believed.
CREATE TABLE store (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    identity TEXT NOT NULL
) STRICT;
INSERT INTO store (id, identity) VALUES (1, lower(hex(randomblob(16))));

-- Every write that readers can see is one generation.
CREATE TABLE generations (
    generation INTEGER PRIMARY KEY AUTOINCREMENT,
    registry   TEXT NOT NULL,
    cause      TEXT NOT NULL,
    at         INTEGER NOT NULL
) STRICT;

CREATE TABLE registries (
    id          INTEGER PRIMARY KEY,
    canonical   TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    source      TEXT NOT NULL,
    branch      TEXT,
    commit_id   TEXT,
    indexed_at  INTEGER,
    title       TEXT,
    description TEXT,
    maintainers TEXT NOT NULL DEFAULT '[]',
    links       TEXT NOT NULL DEFAULT '{}',
    findings    TEXT NOT NULL DEFAULT '[]',
    failure     TEXT
) STRICT;

CREATE TABLE collections (
    registry    INTEGER NOT NULL REFERENCES registries (id) ON DELETE CASCADE,
    name        TEXT NOT NULL,
    path        TEXT NOT NULL,
    title       TEXT,
    description TEXT,
    alias       TEXT,
    PRIMARY KEY (registry, name)
) STRICT;

-- What the bytes of a version are. Facts: kind, entry, files and digest never change. `path`, `tree_id` and
-- `inspection` say where the bytes were last seen and what was last read from them; they are brought up to date.
-- `published_at` is NULL while a row is written ahead of the transaction that points at it.
-- `introduced_*` is for the history walk, which looks at Git and not at this catalogue.
CREATE TABLE revisions (
    id              INTEGER PRIMARY KEY,
    registry        INTEGER NOT NULL REFERENCES registries (id) ON DELETE CASCADE,
    collection      TEXT NOT NULL,
    template        TEXT NOT NULL,
    version         TEXT NOT NULL,
    digest          BLOB NOT NULL,
    kind            TEXT NOT NULL,
    entry           TEXT NOT NULL,
    files           TEXT NOT NULL,
    inspection      TEXT NOT NULL,
    path            TEXT NOT NULL,
    tree_id         TEXT,
    commit_id       TEXT,
    published_at    INTEGER,
    introduced_at   INTEGER,
    introduced_in   TEXT,
    UNIQUE (registry, collection, template, version, digest)
) STRICT;

-- Which revision a version is now. A version that is gone upstream keeps its row, as a tombstone.
-- `settled_at` is when a version stops following rewrites upstream.
CREATE TABLE versions (
    registry     INTEGER NOT NULL REFERENCES registries (id) ON DELETE CASCADE,
    collection   TEXT NOT NULL,
    template     TEXT NOT NULL,
    version      TEXT NOT NULL,
    revision     INTEGER NOT NULL REFERENCES revisions (id),
    findings     TEXT NOT NULL,
    withdrawn    TEXT,
    deprecated   TEXT,
    published_at INTEGER NOT NULL,
    settled_at   INTEGER,
    gone_at      INTEGER,
    PRIMARY KEY (registry, collection, template, version)
) STRICT;
CREATE INDEX versions_by_revision ON versions (revision);

-- Bytes of files, once for each content. `encoding` 0: as they are; 1: zstd.
CREATE TABLE blobs (
    id       INTEGER PRIMARY KEY,
    digest   BLOB NOT NULL UNIQUE,
    size     INTEGER NOT NULL,
    encoding INTEGER NOT NULL,
    content  BLOB NOT NULL
) STRICT;

-- What happened, in order, for ever: the search index is brought up to date from it, and mirrors will be.
-- Names are text, for a registry's rows outlive the registry.
CREATE TABLE changes (
    sequence   INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL REFERENCES generations (generation),
    registry   TEXT NOT NULL,
    collection TEXT NOT NULL,
    template   TEXT NOT NULL,
    version    TEXT NOT NULL,
    what       TEXT NOT NULL,
    digest     BLOB,
    at         INTEGER NOT NULL
) STRICT;
CREATE INDEX changes_by_generation ON changes (generation);
