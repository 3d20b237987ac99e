-- As that of SQLite.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE skills (
    user_id    TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    digest     TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    body       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, name)
);
CREATE TABLE skill_parts (
    user_id TEXT COLLATE "C" NOT NULL,
    digest  TEXT COLLATE "C" NOT NULL,
    n       BIGINT NOT NULL,
    bytes   BYTEA NOT NULL,
    PRIMARY KEY (user_id, digest, n)
);
CREATE TABLE skill_states (
    user_id TEXT COLLATE "C" NOT NULL,
    name    TEXT COLLATE "C" NOT NULL,
    enabled BIGINT NOT NULL,
    uses    BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, name)
);
CREATE TABLE skill_history (
    user_id TEXT COLLATE "C" NOT NULL,
    name    TEXT COLLATE "C" NOT NULL,
    seq     BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    body    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, name, seq)
);
CREATE TABLE skill_refusals (
    user_id TEXT COLLATE "C" NOT NULL,
    seq     BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    body    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, seq)
);
CREATE TABLE skill_switches (
    name    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    enabled BIGINT NOT NULL
);
-- +goose StatementEnd
