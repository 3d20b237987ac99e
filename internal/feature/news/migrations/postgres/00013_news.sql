-- What is new on the threads of a user, a row for each. number grows within a user with each change; it is the time of the change
-- in microseconds, or the next number. gone_at is when the thread was deleted, 0 as long as it is there.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE news (
    user_id   TEXT COLLATE "C" NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    number    BIGINT NOT NULL,
    state     TEXT COLLATE "C" NOT NULL,
    read_at   BIGINT NOT NULL,
    gone_at   BIGINT NOT NULL,
    PRIMARY KEY (user_id, thread_id)
);
INSERT INTO news (user_id, thread_id, number, state, read_at, gone_at)
    SELECT user_id, id, updated_at, '', updated_at, 0 FROM threads WHERE root_id = '';
CREATE INDEX news_by_number ON news (user_id, number);
CREATE INDEX news_open ON news (user_id, state) WHERE state <> '';
-- +goose StatementEnd
