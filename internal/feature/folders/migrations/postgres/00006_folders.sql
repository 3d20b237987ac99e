-- A folder holds threads of its user; a thread is in at most one.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE folders (
    user_id      TEXT   COLLATE "C" NOT NULL,
    id           TEXT   COLLATE "C" NOT NULL,
    name         TEXT   COLLATE "C" NOT NULL,
    colour       TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    instructions TEXT   NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE TABLE folder_threads (
    user_id   TEXT   COLLATE "C" NOT NULL,
    thread_id TEXT   COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    folder_id TEXT   COLLATE "C" NOT NULL,
    put_at    BIGINT NOT NULL,
    PRIMARY KEY (thread_id),
    FOREIGN KEY (user_id, folder_id) REFERENCES folders (user_id, id) ON DELETE CASCADE
);
CREATE INDEX folder_threads_by_folder ON folder_threads (user_id, folder_id, put_at);
-- +goose StatementEnd
