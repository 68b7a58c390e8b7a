-- The last event of a journal, sealed now and then, so that a check can name the journal that was
-- altered, cut or removed since. Rows outlive their journal unless prune removes both.
CREATE TABLE journal_heads (
    journal INTEGER PRIMARY KEY,
    run_id  TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    hash    BLOB    NOT NULL,
    seal    BLOB    NOT NULL
) STRICT;
