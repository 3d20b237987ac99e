-- What a request gives its run to use and nobody may keep, sealed. A row goes in the transaction in which its run comes to its end,
-- whatever ends it.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE run_secrets (
    run_id    TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    user_id   TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    sealed    TEXT NOT NULL
) STRICT;
CREATE INDEX run_secrets_by_user ON run_secrets (user_id);
CREATE INDEX run_secrets_by_thread ON run_secrets (thread_id);
CREATE TRIGGER run_secrets_end AFTER UPDATE OF status ON runs WHEN new.status NOT IN ('pending', 'running') BEGIN
    DELETE FROM run_secrets WHERE run_id = new.id;
END;
-- +goose StatementEnd
