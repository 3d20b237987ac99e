-- Who did what to which object. The rows are the operator's: they stay when their user goes.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE audit (
    id      TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    at      BIGINT NOT NULL,
    who     TEXT   COLLATE "C" NOT NULL,
    role    TEXT   NOT NULL,
    via     TEXT   NOT NULL,
    verb    TEXT   NOT NULL,
    what    TEXT   NOT NULL,
    object  TEXT   NOT NULL,
    refused TEXT   NOT NULL,
    times   BIGINT NOT NULL,
    request TEXT   NOT NULL
);
CREATE INDEX audit_by_time ON audit (at, id);
-- +goose StatementEnd
