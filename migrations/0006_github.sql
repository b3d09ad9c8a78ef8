-- News from hosts of repositories: what they deliver, and what they say of registries that were found there.

-- Deliveries of webhooks that were taken, so that a replay is known after a restart. Only the newest few thousand are
-- kept: `sequence` says which those are.
CREATE TABLE webhook_deliveries (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    host     TEXT NOT NULL,
    delivery TEXT NOT NULL,
    at       INTEGER NOT NULL,
    UNIQUE (host, delivery)
) STRICT;

-- What a host says of a registry that was found there, by the last listing that was whole. `missing_since`: when it was
-- first not among them; the registry stays served. A row without a registry means nothing and is replaced with the rest.
CREATE TABLE discovered (
    canonical      TEXT PRIMARY KEY,
    name           TEXT NOT NULL,
    default_branch TEXT NOT NULL,
    description    TEXT,
    stars          INTEGER NOT NULL,
    missing_since  INTEGER
) STRICT;
