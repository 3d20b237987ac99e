-- Runs that wait: a thread has any number of pending runs, and one that is running. They wait in the order of created_at,
-- which grows with each run of a thread. not_before is 0 for a run that may start at once; notify is 0 or 1.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE runs ADD COLUMN not_before BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN key TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN stop TEXT COLLATE "C" NOT NULL DEFAULT '' CHECK (stop IN ('', 'interrupt', 'rollback'));
ALTER TABLE runs ADD COLUMN notify BIGINT NOT NULL DEFAULT 0;

-- None of these holds what a commit changes. All that wait are found by runs_by_status.
DROP INDEX runs_one_active;
CREATE UNIQUE INDEX runs_one_running ON runs (thread_id) WHERE status = 'running';
CREATE INDEX runs_waiting ON runs (thread_id, created_at, id) WHERE status = 'pending';
CREATE UNIQUE INDEX runs_by_key ON runs (user_id, key) WHERE key <> '';
CREATE INDEX runs_stopping ON runs (owner, created_at, id) WHERE status = 'running' AND stop <> '';
CREATE INDEX runs_unnotified ON runs (created_at, id) WHERE notify = 1;
-- +goose StatementEnd
