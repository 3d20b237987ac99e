-- A folder holds threads of its user; a thread is in at most one. instructions stands last: to read a column behind a long one,
-- SQLite reads all of its pages.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE folders (
    user_id      TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    colour       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    instructions TEXT    NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE TABLE folder_threads (
    user_id   TEXT    NOT NULL,
    thread_id TEXT    NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    folder_id TEXT    NOT NULL,
    put_at    INTEGER NOT NULL,
    PRIMARY KEY (thread_id),
    FOREIGN KEY (user_id, folder_id) REFERENCES folders (user_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX folder_threads_by_folder ON folder_threads (user_id, folder_id, put_at);
-- +goose StatementEnd
