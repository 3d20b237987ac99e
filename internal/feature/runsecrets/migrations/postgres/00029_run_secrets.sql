-- As that of SQLite.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE run_secrets (
    run_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    user_id   TEXT COLLATE "C" NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    sealed    TEXT COLLATE "C" NOT NULL
);
CREATE INDEX run_secrets_by_user ON run_secrets (user_id);
CREATE INDEX run_secrets_by_thread ON run_secrets (thread_id);
CREATE FUNCTION run_secrets_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM run_secrets WHERE run_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER run_secrets_end AFTER UPDATE OF status ON runs FOR EACH ROW WHEN (NEW.status NOT IN ('pending', 'running'))
    EXECUTE FUNCTION run_secrets_end();
-- +goose StatementEnd
