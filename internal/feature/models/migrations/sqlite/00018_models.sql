-- Models that were added while the program works. seal is the sealed key; keyed says that there was one when a dump has none.
-- model_state has one row: a number that grows with each change, and the name of the model that was made the default.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE model_entries (
    name       TEXT    NOT NULL PRIMARY KEY,
    provider   TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    base_url   TEXT    NOT NULL,
    seal       TEXT    NOT NULL,
    keyed      INTEGER NOT NULL,
    settings   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE model_state (
    id       TEXT    NOT NULL PRIMARY KEY,
    version  INTEGER NOT NULL,
    standard TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
-- +goose StatementEnd
