-- What clients of Deployment Manager keep here. Nothing of it is published: readers of registries see none of it.

-- A configuration somebody recorded. `owner` is the id of the token that did; empty is whoever is on this machine.
-- Times of making and changing are in nanoseconds, for manifests are named by them; `expires_at` is in seconds.
CREATE TABLE deployments (
    id          INTEGER PRIMARY KEY,
    owner       TEXT NOT NULL,
    name        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    modified_at INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    UNIQUE (owner, name)
) STRICT;
CREATE INDEX deployments_expiring ON deployments (expires_at);

-- What a deployment came to each time it was recorded: a JSON document that means nothing here.
CREATE TABLE manifests (
    deployment INTEGER NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    content    BLOB NOT NULL,
    PRIMARY KEY (deployment, number)
) STRICT;

-- A name somebody gave to a registry that is served here, for their own requests.
CREATE TABLE registry_names (
    owner      TEXT NOT NULL,
    name       TEXT NOT NULL,
    content    TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (owner, name)
) STRICT;
