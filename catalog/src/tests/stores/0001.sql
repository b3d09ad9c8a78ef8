-- What the first released schema held after a few publications; read after migrations/0001_catalog.sql.
CREATE TABLE _sqlx_migrations (
    version        BIGINT PRIMARY KEY,
    description    TEXT NOT NULL,
    installed_on   TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success        BOOLEAN NOT NULL,
    checksum       BLOB NOT NULL,
    execution_time BIGINT NOT NULL
);
-- The checksum is that of the file: whoever edits the migration fails here.
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
VALUES (1, 'catalog', 1, X'd9b63385091e938adb4fea732fac8e64541454a0ee4d1b64fc38a7b10f72269efd6ff93db0bb28ff0b4e60893aa3758b', 1);

INSERT INTO generations (generation, registry, cause, at) VALUES
    (1, 'github.com/acme/templates', 'registry-added', 1000),
    (2, 'github.com/acme/templates', 'published', 1000);
INSERT INTO registries (id, canonical, name, source, branch, commit_id, indexed_at) VALUES
    (1, 'github.com/acme/templates', 'github.com/acme/templates', 'https://github.com/acme/templates.git', NULL,
        '1111111111111111111111111111111111111111', 2000);
INSERT INTO collections (registry, name, path) VALUES (1, '', '');
INSERT INTO revisions
    (id, registry, collection, template, version, digest, kind, entry, files, inspection, path, tree_id, commit_id, published_at)
VALUES
    (1, 1, '', 'redis', 'v1.0.0', X'2222222222222222222222222222222222222222222222222222222222222222', 'template', 'redis.yaml', '[{"path":"redis.yaml","size":14,"digest":"sha256:af4bd41b481fdad27172c57d1a00cc4a0bf5588f98e87bfd0f47b116d0371f07"}]', '{"title":null,"description":"An in-memory store","tags":[],"documentation":null,"support":null,"parameters":null,"object_kinds":[],"findings":[]}', 'redis/v1.0.0', '0.1.0.1:aa',
        '0000000000000000000000000000000000000000', 1000),
    (2, 1, '', 'redis', 'v1.0.0', X'1111111111111111111111111111111111111111111111111111111111111111', 'template', 'redis.yaml', '[{"path":"redis.yaml","size":14,"digest":"sha256:af4bd41b481fdad27172c57d1a00cc4a0bf5588f98e87bfd0f47b116d0371f07"}]', '{"title":null,"description":"An in-memory store","tags":[],"documentation":null,"support":null,"parameters":null,"object_kinds":[],"findings":[]}', 'redis/v1.0.0', '0.1.0.1:bb',
        '1111111111111111111111111111111111111111', 1500),
    (3, 1, '', 'redis', 'v1.0.1', X'3333333333333333333333333333333333333333333333333333333333333333', 'template', 'redis.yaml', '[{"path":"redis.yaml","size":14,"digest":"sha256:af4bd41b481fdad27172c57d1a00cc4a0bf5588f98e87bfd0f47b116d0371f07"}]', '{"title":null,"description":"An in-memory store","tags":[],"documentation":null,"support":null,"parameters":null,"object_kinds":[],"findings":[]}', 'redis/v1.0.1', '0.1.0.1:cc',
        '0000000000000000000000000000000000000000', 1000),
    -- Written ahead of a publication that never came.
    (4, 1, '', 'redis', 'v1.0.2', X'4444444444444444444444444444444444444444444444444444444444444444', 'template', 'redis.yaml', '[{"path":"redis.yaml","size":14,"digest":"sha256:af4bd41b481fdad27172c57d1a00cc4a0bf5588f98e87bfd0f47b116d0371f07"}]', '{"title":null,"description":"An in-memory store","tags":[],"documentation":null,"support":null,"parameters":null,"object_kinds":[],"findings":[]}', 'redis/v1.0.2', '0.1.0.1:dd', NULL, NULL);
INSERT INTO versions (registry, collection, template, version, revision, findings, published_at, gone_at) VALUES
    (1, '', 'redis', 'v1.0.0', 2, '[]', 1000, NULL),
    (1, '', 'redis', 'v1.0.1', 3, '[]', 1000, 1500);
INSERT INTO blobs (digest, size, encoding, content) VALUES (X'af4bd41b481fdad27172c57d1a00cc4a0bf5588f98e87bfd0f47b116d0371f07', 14, 0, X'6b696e643a2054656d706c617465');
INSERT INTO changes (generation, registry, collection, template, version, what, digest, at) VALUES
    (2, 'github.com/acme/templates', '', 'redis', 'v1.0.0', 'added', X'2222222222222222222222222222222222222222222222222222222222222222', 1000),
    (2, 'github.com/acme/templates', '', 'redis', 'v1.0.1', 'added', X'3333333333333333333333333333333333333333333333333333333333333333', 1000);
