-- Who may see and do what.

-- Whether anybody sees a registry, or only who was given a token. The operator's setting, never the registry's.
ALTER TABLE registries ADD COLUMN visibility TEXT NOT NULL DEFAULT 'public'
    CHECK (visibility IN ('public', 'private'));

-- What was given to people and programs. The secret itself is nowhere: `hash` is its SHA-256. A secret has 256 random
-- bits, so there is nothing to guess and no need for a slow hash.
-- `registries` is a JSON list of names; NULL means all of them.
CREATE TABLE tokens (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    hash         BLOB NOT NULL UNIQUE,
    scope        TEXT NOT NULL,
    registries   TEXT,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER
) STRICT;
