-- What prune has removed from the sealed history: how many events, and their sum. The mark
-- beside the store covers every event ever written, so those that are gone are counted here.

CREATE TABLE pruned (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    events INTEGER NOT NULL,
    sum    BLOB    NOT NULL,
    seal   BLOB    NOT NULL
) STRICT;
