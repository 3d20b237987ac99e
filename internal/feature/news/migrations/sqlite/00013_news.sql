-- What is new on the threads of a user, a row for each. number grows within a user with each change; it is the time of the change
-- in microseconds, or the next number. gone_at is when the thread was deleted, 0 as long as it is there.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE news (
    user_id   TEXT    NOT NULL,
    thread_id TEXT    NOT NULL,
    number    INTEGER NOT NULL,
    state     TEXT    NOT NULL,
    read_at   INTEGER NOT NULL,
    gone_at   INTEGER NOT NULL,
    PRIMARY KEY (user_id, thread_id)
) STRICT, WITHOUT ROWID;
INSERT INTO news (user_id, thread_id, number, state, read_at, gone_at)
    SELECT user_id, id, updated_at, '', updated_at, 0 FROM threads WHERE root_id = '';
CREATE INDEX news_by_number ON news (user_id, number);
CREATE INDEX news_open ON news (user_id, state) WHERE state <> '';
-- +goose StatementEnd
