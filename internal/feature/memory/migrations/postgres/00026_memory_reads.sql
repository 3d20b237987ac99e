-- How far a thread was read for what may be remembered: the ids of the last messages that were.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE memory_reads (
    user_id   TEXT COLLATE "C" NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
    at        BIGINT NOT NULL,
    body      TEXT COLLATE "C" NOT NULL
);
-- +goose StatementEnd
