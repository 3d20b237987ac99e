-- Sessions of browsers. seal is an HMAC of the token by the secret of the cookie.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE sessions (
    id         TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    user_id    TEXT   COLLATE "C" NOT NULL,
    token      TEXT   COLLATE "C" NOT NULL,
    seal       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    ends_at    BIGINT NOT NULL
);
CREATE INDEX sessions_by_token ON sessions (user_id, token, ends_at);
-- +goose StatementEnd
