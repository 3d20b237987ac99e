-- ttl is the time to live of an item in microseconds, 0 for ever; expires_at is when it is over, 0 if it never is.
-- value stands last: to read a column behind a long one, SQLite reads all of its pages.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE items_with_ttl (
    user_id    TEXT    NOT NULL,
    namespace  TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ttl        INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL DEFAULT 0,
    value      TEXT    NOT NULL,
    PRIMARY KEY (user_id, namespace, key)
) STRICT;
INSERT INTO items_with_ttl (user_id, namespace, key, created_at, updated_at, value)
    SELECT user_id, namespace, key, created_at, updated_at, value FROM items;
DROP TABLE items;
ALTER TABLE items_with_ttl RENAME TO items;
CREATE INDEX items_by_time ON items (user_id, updated_at, namespace, key);
CREATE INDEX items_expiring ON items (expires_at) WHERE expires_at > 0;
-- +goose StatementEnd
