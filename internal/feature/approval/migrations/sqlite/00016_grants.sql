-- A grant approves calls of a tool that a pattern covers, on one thread or, where that is null, on all of the user. Of those that
-- were not revoked none says the same as another.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE grants (
    user_id    TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    pattern    TEXT    NOT NULL,
    exact      INTEGER NOT NULL,
    thread_id  TEXT    REFERENCES threads (id) ON DELETE CASCADE,
    via        TEXT    NOT NULL,
    given_at   INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,
    uses       INTEGER NOT NULL,
    revoked_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX grants_active ON grants (user_id, tool, pattern, exact, COALESCE(thread_id, '')) WHERE revoked_at = 0;
CREATE INDEX grants_by_thread ON grants (thread_id) WHERE thread_id IS NOT NULL;
-- +goose StatementEnd
