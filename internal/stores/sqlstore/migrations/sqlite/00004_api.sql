-- pinned is 1 if metadata has "deerflow_pinned": true.
-- signature has a few bits set for each member of metadata, so that most threads without a member are passed over by their
-- entry in an index; with all bits set, as in rows that are older than it, it says nothing.
-- An item's namespace has each label behind a byte 1, and one more behind the last. No label has a byte as small, so that
-- namespaces sort as lists of labels do.
-- Of an assistant's versions one is in force.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE threads ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
UPDATE threads SET pinned = 1 WHERE metadata LIKE '%pinned%' AND json_type(metadata, '$.deerflow_pinned') = 'true';
ALTER TABLE threads ADD COLUMN signature INTEGER NOT NULL DEFAULT -1;
DROP INDEX threads_by_user;
CREATE INDEX threads_by_user ON threads (user_id, updated_at, id, pinned, signature);
CREATE INDEX threads_by_age ON threads (user_id, created_at, id, pinned, signature);
CREATE INDEX threads_pinned ON threads (user_id, updated_at, id, signature) WHERE pinned = 1;

CREATE TABLE items (
    user_id    TEXT    NOT NULL,
    namespace  TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    value      TEXT    NOT NULL,
    PRIMARY KEY (user_id, namespace, key)
) STRICT;
CREATE INDEX items_by_time ON items (user_id, updated_at, namespace, key);

CREATE TABLE assistants (
    id          TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    in_force    INTEGER NOT NULL,
    user_id     TEXT    NOT NULL,
    graph_id    TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    description TEXT    NOT NULL,
    config      TEXT    NOT NULL,
    context     TEXT    NOT NULL,
    metadata    TEXT    NOT NULL,
    PRIMARY KEY (id, version)
) STRICT;
CREATE UNIQUE INDEX assistants_in_force ON assistants (id) WHERE in_force = 1;

CREATE TABLE settings (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- +goose StatementEnd
