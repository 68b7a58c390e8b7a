-- What happened, and nothing else: journals, their events, small contents, the driver's
-- epoch. Everything in later files is derived from these tables and can be derived again.

CREATE TABLE journals (
    id           INTEGER PRIMARY KEY,
    run_id       TEXT    NOT NULL UNIQUE,
    -- Where the kept part begins: the place and hash of the last event that was pruned.
    anchor_seq   INTEGER NOT NULL,
    anchor_hash  BLOB    NOT NULL,
    -- Events up to here came from another home; they are history and cause nothing here.
    imported_seq INTEGER NOT NULL,
    sum          INTEGER NOT NULL
) STRICT;

-- A journal is named by a small number so that the events of runs that are active together
-- share index pages: a group commit then touches few pages, whatever the run ids look like.
-- No foreign key: the writer has the journal's row in hand, and the check would be paid
-- with every event.
CREATE TABLE events (
    position       INTEGER PRIMARY KEY,
    journal        INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    time           INTEGER NOT NULL,
    type           TEXT    NOT NULL,
    span_id        BLOB    NOT NULL,
    parent_span_id BLOB,
    prev_hash      BLOB    NOT NULL,
    hash           BLOB    NOT NULL,
    payload        TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_by_journal ON events (journal, seq);

CREATE TABLE blobs (
    id        INTEGER PRIMARY KEY,
    sha256    BLOB    NOT NULL UNIQUE,
    stored_at INTEGER NOT NULL,
    bytes     BLOB    NOT NULL
) STRICT;

CREATE TABLE lease (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL
) STRICT;

INSERT INTO lease (id, epoch) VALUES (1, 0);

-- Numbers given out once are never given out again, even when prune removes the rows
-- that carried them: readers hold positions and cursors.
CREATE TABLE floors (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL,
    journal  INTEGER NOT NULL
) STRICT;

INSERT INTO floors (id, position, journal) VALUES (1, 0, 0);
