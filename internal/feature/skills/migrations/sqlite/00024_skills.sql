-- The skills that a user has installed: the package is an archive in parts, found by its digest. What was switched, and how often a
-- skill was used, is kept by the skill's name, be it installed now or not. skill_switches are those of public skills, for everybody.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE skills (
    user_id    TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    digest     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body       TEXT    NOT NULL,
    PRIMARY KEY (user_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE skill_parts (
    user_id TEXT    NOT NULL,
    digest  TEXT    NOT NULL,
    n       INTEGER NOT NULL,
    bytes   BLOB    NOT NULL,
    PRIMARY KEY (user_id, digest, n)
) STRICT;
CREATE TABLE skill_states (
    user_id TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    enabled INTEGER NOT NULL,
    uses    INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE skill_history (
    user_id TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    body    TEXT    NOT NULL,
    PRIMARY KEY (user_id, name, seq)
) STRICT;
CREATE TABLE skill_refusals (
    user_id TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    body    TEXT    NOT NULL,
    PRIMARY KEY (user_id, seq)
) STRICT;
CREATE TABLE skill_switches (
    name    TEXT    NOT NULL PRIMARY KEY,
    enabled INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- +goose StatementEnd
