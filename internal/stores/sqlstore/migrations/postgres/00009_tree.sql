-- A run may have children. root_id is the run at the top of its tree, parent_id the one above it, depth how far down it
-- stands; empty and 0 for a run without a parent. key is what the parent calls a child, once among its children. A child
-- runs on a hidden thread, whose root_id is the thread on whose files it works.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE threads ADD COLUMN root_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN parent_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN root_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN depth BIGINT NOT NULL DEFAULT 0;

DROP INDEX threads_by_user;
DROP INDEX threads_by_age;
DROP INDEX threads_pinned;
CREATE INDEX threads_by_user ON threads (user_id, updated_at, id, pinned, signature) WHERE root_id = '';
CREATE INDEX threads_by_age ON threads (user_id, created_at, id, pinned, signature) WHERE root_id = '';
CREATE INDEX threads_pinned ON threads (user_id, updated_at, id, signature) WHERE pinned = 1 AND root_id = '';
CREATE INDEX threads_hidden ON threads (root_id) WHERE root_id <> '';

DROP INDEX runs_by_key;
CREATE UNIQUE INDEX runs_by_key ON runs (user_id, key) WHERE key <> '' AND parent_id = '';
CREATE UNIQUE INDEX runs_by_parent ON runs (parent_id, key) WHERE parent_id <> '';
CREATE INDEX runs_by_root ON runs (root_id) WHERE root_id <> '';
-- +goose StatementEnd
