-- Work that follows a transaction. user_id is empty for work of the system, owner while nobody does it. generation counts the
-- requests, taken is what it was when the job was last begun. body stands last: to read a column behind a long one, SQLite
-- reads all of its pages.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE jobs (
    user_id    TEXT    NOT NULL,
    job_kind       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    thread_id  TEXT    NOT NULL,
    generation INTEGER NOT NULL,
    taken      INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    fence      INTEGER NOT NULL,
    owner      TEXT    NOT NULL,
    not_before INTEGER NOT NULL,
    latest     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    dead_at    INTEGER NOT NULL,
    error      TEXT    NOT NULL,
    body       TEXT,
    PRIMARY KEY (user_id, job_kind, key)
) STRICT;
CREATE INDEX jobs_waiting ON jobs (job_kind, attempts, not_before) WHERE owner = '' AND dead_at = 0;
CREATE INDEX jobs_held ON jobs (owner) WHERE owner <> '';
CREATE INDEX jobs_dead ON jobs (job_kind, dead_at) WHERE dead_at > 0;
CREATE INDEX jobs_by_thread ON jobs (thread_id);
-- +goose StatementEnd
