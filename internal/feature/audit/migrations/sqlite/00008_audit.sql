-- Who did what to which object. The rows are the operator's: they stay when their user goes.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE audit (
    id      TEXT    NOT NULL PRIMARY KEY,
    at      INTEGER NOT NULL,
    who     TEXT    NOT NULL,
    role    TEXT    NOT NULL,
    via     TEXT    NOT NULL,
    verb    TEXT    NOT NULL,
    what    TEXT    NOT NULL,
    object  TEXT    NOT NULL,
    refused TEXT    NOT NULL,
    times   INTEGER NOT NULL,
    request TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_time ON audit (at, id);
-- +goose StatementEnd
