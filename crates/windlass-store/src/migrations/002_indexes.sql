-- What the journals say, in the shape questions are asked. Each row carries a checksum of
-- its own content, so that a flipped bit is reported and never answered with.

CREATE TABLE runs (
    journal         INTEGER PRIMARY KEY REFERENCES journals (id),
    kind            TEXT    NOT NULL,
    state           TEXT    NOT NULL,
    principal       TEXT    NOT NULL,
    parent          TEXT,
    idempotency_key TEXT,
    live            TEXT    NOT NULL,
    sum             INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX runs_by_idempotency_key ON runs (principal, kind, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_by_state ON runs (state);
CREATE INDEX runs_by_kind ON runs (kind);
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;

-- Outlives its run: a confirm token stays used when the run is pruned before it expires.
CREATE TABLE tokens (
    token   TEXT    PRIMARY KEY,
    run_id  TEXT    NOT NULL,
    used_at INTEGER NOT NULL,
    sum     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every artifact a journal names, also those a later one of the same name hides.
CREATE TABLE artifacts (
    journal INTEGER NOT NULL REFERENCES journals (id),
    seq     INTEGER NOT NULL,
    record  TEXT    NOT NULL,
    sum     INTEGER NOT NULL,
    PRIMARY KEY (journal, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
    key_id TEXT    PRIMARY KEY,
    record TEXT    NOT NULL,
    sum    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
    id      TEXT    PRIMARY KEY,
    journal INTEGER NOT NULL REFERENCES journals (id),
    url     TEXT    NOT NULL,
    state   TEXT    NOT NULL,
    due_at  INTEGER NOT NULL,
    -- Asked for by hand: goes out even to a receiver that said it is gone.
    forced  INTEGER NOT NULL,
    record  TEXT    NOT NULL,
    sum     INTEGER NOT NULL
) STRICT;

CREATE INDEX deliveries_by_due ON deliveries (state, due_at);
CREATE INDEX deliveries_by_run ON deliveries (journal);

CREATE TABLE attempts (
    delivery TEXT    NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    record   TEXT    NOT NULL,
    sum      INTEGER NOT NULL,
    PRIMARY KEY (delivery, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE disabled_endpoints (
    url      TEXT    PRIMARY KEY,
    position INTEGER NOT NULL,
    sum      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
