-- What processing the example of a revision gave: derived, and made again whenever the engine is another one.
-- `engine` is the build that made it; `needed` is the list of references it asked for, with the content each got.
CREATE TABLE reports (
    revision INTEGER PRIMARY KEY REFERENCES revisions (id) ON DELETE CASCADE,
    engine   TEXT NOT NULL,
    at       INTEGER NOT NULL,
    findings TEXT NOT NULL,
    needed   TEXT NOT NULL
) STRICT;
