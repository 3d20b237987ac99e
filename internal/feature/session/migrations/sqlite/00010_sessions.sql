-- Sessions of browsers. seal is an HMAC of the token by the secret of the cookie.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE sessions (
    id         TEXT    NOT NULL PRIMARY KEY,
    user_id    TEXT    NOT NULL,
    token      TEXT    NOT NULL,
    seal       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_token ON sessions (user_id, token, ends_at);
-- +goose StatementEnd
