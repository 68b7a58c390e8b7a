-- Who drives what. A lease is a fact about processes, not derived from journals: it is taken,
-- given back and lost without an event.

CREATE TABLE leases (
    name   TEXT    PRIMARY KEY,
    driver INTEGER NOT NULL,
    epoch  INTEGER NOT NULL,
    sum    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Epochs are given out once, too.
ALTER TABLE floors ADD COLUMN lease INTEGER NOT NULL DEFAULT 0;

-- Derived: runs that nobody executes and that are new (0), wait for a moment, or were told
-- something.
CREATE TABLE run_due (
    journal   INTEGER PRIMARY KEY REFERENCES journals (id),
    due_at    INTEGER,
    signalled INTEGER NOT NULL,
    sum       INTEGER NOT NULL
) STRICT;

CREATE INDEX run_due_by_time ON run_due (due_at, journal) WHERE due_at IS NOT NULL;
CREATE INDEX run_due_by_signal ON run_due (journal) WHERE signalled = 1;

-- Derived: what unfinished runs hold exclusively, or wait for.
CREATE TABLE run_holds (
    name    TEXT    NOT NULL,
    journal INTEGER NOT NULL REFERENCES journals (id),
    holding INTEGER NOT NULL,
    sum     INTEGER NOT NULL,
    PRIMARY KEY (name, journal)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX run_holds_once ON run_holds (name) WHERE holding = 1;
CREATE INDEX run_holds_by_run ON run_holds (journal);
