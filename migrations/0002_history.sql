-- What happened to every version: which commit brought a content, which rewrites are held back, what was erased.

-- `seen_at` is when this catalogue first saw a content, served or held; without it that is `published_at`.
-- A content that is held and was never served keeps `published_at` NULL. `introduced_in`, `introduced_at` and
-- `introduced_by` are the commit that brought it, when, and its author, from the first-parent history of the branch.
ALTER TABLE revisions ADD COLUMN seen_at INTEGER;
ALTER TABLE revisions ADD COLUMN introduced_by TEXT;

-- `held` is what upstream has in place of a settled version, with its findings. `notes` are findings on what became
-- of the version. `missing_at` is since when it is missing upstream and only listed until somebody accepts that.
ALTER TABLE versions ADD COLUMN held INTEGER REFERENCES revisions (id);
ALTER TABLE versions ADD COLUMN held_findings TEXT;
ALTER TABLE versions ADD COLUMN notes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE versions ADD COLUMN missing_at INTEGER;
CREATE INDEX versions_by_held ON versions (held);

-- Versions from Git that were published before there was settling settled an hour after they were first published.
UPDATE versions SET settled_at = published_at + 3600
WHERE settled_at IS NULL
    AND EXISTS (SELECT 1 FROM revisions WHERE revisions.id = versions.revision AND revisions.commit_id IS NOT NULL);

-- Contents that were erased. They outlive their registry: one that is added again must not bring them back.
-- `whole` 1: nothing is published under the version any more.
CREATE TABLE purges (
    registry   TEXT NOT NULL,
    collection TEXT NOT NULL,
    template   TEXT NOT NULL,
    version    TEXT NOT NULL,
    digest     BLOB NOT NULL,
    whole      INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (registry, collection, template, version, digest)
) STRICT;

ALTER TABLE changes ADD COLUMN detail TEXT;
CREATE INDEX changes_by_registry ON changes (registry, sequence);
