-- pinned is 1 if metadata has "deerflow_pinned": true. A thread whose metadata PostgreSQL cannot read, for a NUL in it, is
-- not pinned until its metadata is next changed.
-- signature has a few bits set for each member of metadata, so that most threads without a member are passed over by their
-- entry in an index; with all bits set, as in rows that are older than it, it says nothing.
-- An item's namespace has each label behind a byte 1, and one more behind the last. No label has a byte as small, so that
-- namespaces sort as lists of labels do.
-- Of an assistant's versions one is in force.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE threads ADD COLUMN pinned BIGINT NOT NULL DEFAULT 0;
UPDATE threads SET pinned = 1 WHERE CASE WHEN metadata LIKE '%pinned%' AND strpos(metadata, '\u0000') = 0
    THEN metadata::jsonb -> 'deerflow_pinned' = 'true'::jsonb ELSE FALSE END;
ALTER TABLE threads ADD COLUMN signature BIGINT NOT NULL DEFAULT -1;
DROP INDEX threads_by_user;
CREATE INDEX threads_by_user ON threads (user_id, updated_at, id, pinned, signature);
CREATE INDEX threads_by_age ON threads (user_id, created_at, id, pinned, signature);
CREATE INDEX threads_pinned ON threads (user_id, updated_at, id, signature) WHERE pinned = 1;

CREATE TABLE items (
    user_id    TEXT   COLLATE "C" NOT NULL,
    namespace  TEXT   COLLATE "C" NOT NULL,
    key        TEXT   COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    value      TEXT   NOT NULL,
    PRIMARY KEY (user_id, namespace, key)
);
CREATE INDEX items_by_time ON items (user_id, updated_at);

CREATE TABLE assistants (
    id          TEXT   COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL,
    in_force    BIGINT NOT NULL,
    user_id     TEXT   COLLATE "C" NOT NULL,
    graph_id    TEXT   COLLATE "C" NOT NULL,
    name        TEXT   COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    description TEXT   NOT NULL,
    config      TEXT   NOT NULL,
    context     TEXT   NOT NULL,
    metadata    TEXT   NOT NULL,
    PRIMARY KEY (id, version)
);
CREATE UNIQUE INDEX assistants_in_force ON assistants (id) WHERE in_force = 1;

CREATE TABLE settings (
    key   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
-- +goose StatementEnd
