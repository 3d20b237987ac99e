-- Times are microseconds since 1970 UTC. JSON is kept byte for byte as it was given.
-- The tables threads and log differ in their layout for size: rows of threads are small and live in their key's tree,
-- rows of log are a few KB and would waste half a page each there.

-- +goose Up
-- +goose StatementBegin
PRAGMA application_id = 1349870709;

CREATE TABLE threads (
    id         TEXT    NOT NULL PRIMARY KEY,
    user_id    TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    head       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    metadata   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX threads_by_user ON threads (user_id, updated_at, id);

-- request stands last: a commit touches updated_at, and only the pages that change are written.
CREATE TABLE runs (
    id          TEXT    NOT NULL PRIMARY KEY,
    thread_id   TEXT    NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    user_id     TEXT    NOT NULL,
    status      TEXT    NOT NULL CHECK (status IN ('pending', 'running', 'success', 'error', 'interrupted')),
    attempt     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    owner       TEXT    NOT NULL,
    error       TEXT    NOT NULL,
    stop_reason TEXT    NOT NULL,
    usage       TEXT,
    request     TEXT
) STRICT;
CREATE UNIQUE INDEX runs_one_active ON runs (thread_id) WHERE status IN ('pending', 'running');
CREATE INDEX runs_by_thread ON runs (thread_id, created_at, id);
CREATE INDEX runs_by_user ON runs (user_id, created_at, id);
CREATE INDEX runs_by_status ON runs (status, created_at, id);

-- One row per commit. checkpoint_id is null in a row that has events alone; first_n and last_n are 0 in a row without
-- events. since counts the bytes of updates along the parents after the last snapshot; snap is half of what since may
-- reach before a snapshot is considered: the bytes of the last one, or of the state when one was not worth its bytes.
CREATE TABLE log (
    seq           INTEGER NOT NULL PRIMARY KEY,
    thread_id     TEXT    NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    checkpoint_id TEXT,
    parent_id     TEXT    NOT NULL,
    run_id        TEXT    NOT NULL,
    attempt       INTEGER NOT NULL,
    first_n       INTEGER NOT NULL,
    last_n        INTEGER NOT NULL,
    step          INTEGER NOT NULL,
    since         INTEGER NOT NULL,
    snap          INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    next          TEXT    NOT NULL,
    updates       BLOB,
    events        BLOB
) STRICT;
CREATE UNIQUE INDEX log_by_checkpoint ON log (thread_id, checkpoint_id);
CREATE INDEX log_by_event ON log (run_id, attempt, last_n) WHERE last_n > 0;

CREATE TABLE snapshots (
    thread_id     TEXT    NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    checkpoint_id TEXT    NOT NULL,
    bytes         INTEGER NOT NULL,
    state         BLOB    NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_id)
) STRICT;
-- +goose StatementEnd
