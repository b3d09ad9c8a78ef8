-- The generation in which what is served as a version, or said of it, last changed: what clients that watch compare.
ALTER TABLE versions ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
UPDATE versions SET generation = (SELECT COALESCE(MAX(generation), 0) FROM generations);
