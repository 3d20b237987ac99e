-- What calls of models have in common: system prompts, lists of tools, and which of them went with which settings to whom. A
-- part is named by its content, and is there once for a user. The body is deflated.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE call_parts (
    user_id TEXT   COLLATE "C" NOT NULL,
    digest  TEXT   COLLATE "C" NOT NULL,
    used_at BIGINT NOT NULL,
    body    BYTEA  NOT NULL,
    PRIMARY KEY (user_id, digest)
);
-- +goose StatementEnd
