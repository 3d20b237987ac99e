-- The tables of SQLite's versions 1 and 2. Times are microseconds since 1970 UTC. JSON is kept byte for byte as it was
-- given. What is compared and sorted as a string sorts by its bytes, whatever the database's language.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE threads (
    id         TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    user_id    TEXT   COLLATE "C" NOT NULL,
    title      TEXT   NOT NULL,
    head       TEXT   COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    metadata   TEXT   NOT NULL
);
CREATE INDEX threads_by_user ON threads (user_id, updated_at, id);

-- stalled counts the attempts of a run since the last one that got a step further.
CREATE TABLE runs (
    id          TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    thread_id   TEXT   COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    user_id     TEXT   COLLATE "C" NOT NULL,
    status      TEXT   COLLATE "C" NOT NULL CHECK (status IN ('pending', 'running', 'success', 'error', 'interrupted')),
    attempt     BIGINT NOT NULL,
    stalled     BIGINT NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    owner       TEXT   COLLATE "C" NOT NULL,
    error       TEXT   NOT NULL,
    stop_reason TEXT   NOT NULL,
    usage       TEXT,
    request     TEXT
) WITH (fillfactor = 70); -- a commit changes the row; with room beside it the indexes stay as they are
CREATE UNIQUE INDEX runs_one_active ON runs (thread_id) WHERE status IN ('pending', 'running');
CREATE INDEX runs_by_thread ON runs (thread_id, created_at, id);
CREATE INDEX runs_by_user ON runs (user_id, created_at, id);
CREATE INDEX runs_by_status ON runs (status, created_at, id);

-- One row per commit. checkpoint_id is null in a row that has events alone; first_n and last_n are 0 in a row without
-- events. since counts the bytes of updates along the parents after the last snapshot; snap is half of what since may
-- reach before a snapshot is considered: the bytes of the last one, or of the state when one was not worth its bytes.
CREATE TABLE log (
    seq           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread_id     TEXT   COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    checkpoint_id TEXT   COLLATE "C",
    parent_id     TEXT   COLLATE "C" NOT NULL,
    run_id        TEXT   COLLATE "C" NOT NULL,
    attempt       BIGINT NOT NULL,
    first_n       BIGINT NOT NULL,
    last_n        BIGINT NOT NULL,
    step          BIGINT NOT NULL,
    since         BIGINT NOT NULL,
    snap          BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    next          TEXT   NOT NULL,
    updates       BYTEA,
    events        BYTEA
);
CREATE UNIQUE INDEX log_by_checkpoint ON log (thread_id, checkpoint_id);
CREATE INDEX log_by_event ON log (run_id, attempt, last_n) WHERE last_n > 0;

CREATE TABLE snapshots (
    thread_id     TEXT   COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    checkpoint_id TEXT   COLLATE "C" NOT NULL,
    bytes         BIGINT NOT NULL,
    state         BYTEA  NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_id)
);

-- The leases: one row per process that owns runs, renewed by it, by this server's clock.
CREATE TABLE nodes (
    owner      TEXT        COLLATE "C" NOT NULL PRIMARY KEY,
    renewed_at TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 50);
-- +goose StatementEnd
