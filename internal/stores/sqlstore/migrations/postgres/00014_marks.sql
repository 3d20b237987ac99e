-- marks is the sum of what a thread is marked as: 1 archived, 2 temporary, 4 in the bin since trashed_at, 8 about to be deleted from
-- there. People look through those with 0, so that it stands before the order of the indexes.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE threads ADD COLUMN marks BIGINT NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN trashed_at BIGINT NOT NULL DEFAULT 0;

DROP INDEX threads_by_user;
DROP INDEX threads_by_age;
DROP INDEX threads_pinned;
CREATE INDEX threads_by_user ON threads (user_id, marks, updated_at, id, pinned, signature) WHERE root_id = '';
CREATE INDEX threads_by_age ON threads (user_id, marks, created_at, id, pinned, signature) WHERE root_id = '';
CREATE INDEX threads_pinned ON threads (user_id, marks, updated_at, id, signature) WHERE pinned = 1 AND root_id = '';
CREATE INDEX threads_passing ON threads (marks) WHERE marks > 1;
-- +goose StatementEnd
