-- How far a thread was read for what may be remembered: the ids of the last messages that were.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE memory_reads (
    user_id   TEXT    NOT NULL,
    thread_id TEXT    NOT NULL PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
    at        INTEGER NOT NULL,
    body      TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
-- +goose StatementEnd
