-- Work that follows a transaction. user_id is empty for work of the system, owner while nobody does it. generation counts the
-- requests, taken is what it was when the job was last begun.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE jobs (
    user_id    TEXT COLLATE "C" NOT NULL,
    job_kind       TEXT COLLATE "C" NOT NULL,
    key        TEXT COLLATE "C" NOT NULL,
    thread_id  TEXT COLLATE "C" NOT NULL,
    generation BIGINT  NOT NULL,
    taken      BIGINT  NOT NULL,
    attempts   BIGINT  NOT NULL,
    fence      BIGINT  NOT NULL,
    owner      TEXT COLLATE "C" NOT NULL,
    not_before BIGINT  NOT NULL,
    latest     BIGINT  NOT NULL,
    created_at BIGINT  NOT NULL,
    updated_at BIGINT  NOT NULL,
    dead_at    BIGINT  NOT NULL,
    error      TEXT    NOT NULL,
    body       TEXT,
    PRIMARY KEY (user_id, job_kind, key)
);
CREATE INDEX jobs_waiting ON jobs (job_kind, attempts, not_before) WHERE owner = '' AND dead_at = 0;
CREATE INDEX jobs_held ON jobs (owner) WHERE owner <> '';
CREATE INDEX jobs_dead ON jobs (job_kind, dead_at) WHERE dead_at > 0;
CREATE INDEX jobs_by_thread ON jobs (thread_id);
-- +goose StatementEnd
