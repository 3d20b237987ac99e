-- What calls of models have in common: system prompts, lists of tools, and which of them went with which settings to whom. A
-- part is named by its content, and is there once for a user. The body is deflated.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE call_parts (
    user_id TEXT    NOT NULL,
    digest  TEXT    NOT NULL,
    used_at INTEGER NOT NULL,
    body    BLOB    NOT NULL,
    PRIMARY KEY (user_id, digest)
) STRICT;
-- +goose StatementEnd
