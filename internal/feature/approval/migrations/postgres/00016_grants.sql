-- A grant approves calls of a tool that a pattern covers, on one thread or, where that is null, on all of the user. Of those that
-- were not revoked none says the same as another.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE grants (
    user_id    TEXT   COLLATE "C" NOT NULL,
    id         TEXT   COLLATE "C" NOT NULL,
    tool       TEXT   COLLATE "C" NOT NULL,
    pattern    TEXT   COLLATE "C" NOT NULL,
    exact      BIGINT NOT NULL,
    thread_id  TEXT   COLLATE "C" REFERENCES threads (id) ON DELETE CASCADE,
    via        TEXT   NOT NULL,
    given_at   BIGINT NOT NULL,
    used_at    BIGINT NOT NULL,
    uses       BIGINT NOT NULL,
    revoked_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX grants_active ON grants (user_id, tool, pattern, exact, COALESCE(thread_id, '')) WHERE revoked_at = 0;
CREATE INDEX grants_by_thread ON grants (thread_id) WHERE thread_id IS NOT NULL;
-- +goose StatementEnd
