-- As that of SQLite.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE memory_docs (
    user_id    TEXT COLLATE "C"  NOT NULL PRIMARY KEY,
    revision   BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    body       TEXT COLLATE "C"  NOT NULL
);
CREATE TABLE memory_facts (
    user_id    TEXT COLLATE "C"  NOT NULL,
    id         TEXT COLLATE "C"  NOT NULL,
    seq        BIGINT NOT NULL,
    status     TEXT COLLATE "C"  NOT NULL,
    agent      TEXT COLLATE "C"  NOT NULL,
    folder_id TEXT COLLATE "C",
    thread_id  TEXT COLLATE "C"  NOT NULL,
    category   TEXT COLLATE "C"  NOT NULL,
    confidence BIGINT NOT NULL,
    revision   BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    gone_at    BIGINT NOT NULL,
    used_at    BIGINT NOT NULL,
    uses       BIGINT NOT NULL,
    body       TEXT COLLATE "C"  NOT NULL,
    content    TEXT COLLATE "C"  NOT NULL,
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, folder_id) REFERENCES folders (user_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX memory_facts_by_seq ON memory_facts (user_id, seq);
CREATE INDEX memory_facts_by_folder ON memory_facts (user_id, folder_id) WHERE folder_id IS NOT NULL;
CREATE TABLE memory_terms (
    user_id TEXT COLLATE "C"  NOT NULL,
    term    TEXT COLLATE "C"  NOT NULL,
    seq     BIGINT NOT NULL,
    PRIMARY KEY (user_id, term, seq),
    FOREIGN KEY (user_id, seq) REFERENCES memory_facts (user_id, seq) ON DELETE CASCADE
);
CREATE INDEX memory_terms_by_fact ON memory_terms (user_id, seq);
CREATE TABLE memory_sources (
    user_id    TEXT COLLATE "C"  NOT NULL,
    fact_id    TEXT COLLATE "C"  NOT NULL,
    message_id TEXT COLLATE "C"  NOT NULL,
    thread_id  TEXT COLLATE "C"  NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    at         BIGINT NOT NULL,
    words      TEXT COLLATE "C"  NOT NULL,
    PRIMARY KEY (user_id, fact_id, message_id),
    FOREIGN KEY (user_id, fact_id) REFERENCES memory_facts (user_id, id) ON DELETE CASCADE
);
CREATE INDEX memory_sources_by_thread ON memory_sources (thread_id);
CREATE TABLE memory_uses (
    user_id   TEXT COLLATE "C"  NOT NULL,
    fact_id   TEXT COLLATE "C"  NOT NULL,
    thread_id TEXT COLLATE "C"  NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    at        BIGINT NOT NULL,
    PRIMARY KEY (user_id, fact_id, thread_id),
    FOREIGN KEY (user_id, fact_id) REFERENCES memory_facts (user_id, id) ON DELETE CASCADE
);
CREATE INDEX memory_uses_by_thread ON memory_uses (thread_id);
CREATE TABLE memory_history (
    user_id   TEXT COLLATE "C"  NOT NULL,
    seq       BIGINT NOT NULL,
    at        BIGINT NOT NULL,
    fact_id   TEXT COLLATE "C"  NOT NULL,
    folder_id TEXT COLLATE "C",
    batch     TEXT COLLATE "C"  NOT NULL,
    act       TEXT COLLATE "C"  NOT NULL,
    why       TEXT COLLATE "C"  NOT NULL,
    body      TEXT COLLATE "C"  NOT NULL,
    PRIMARY KEY (user_id, seq),
    FOREIGN KEY (user_id, folder_id) REFERENCES folders (user_id, id) ON DELETE CASCADE
);
CREATE INDEX memory_history_by_fact ON memory_history (user_id, fact_id, seq);
CREATE INDEX memory_history_by_folder ON memory_history (user_id, folder_id) WHERE folder_id IS NOT NULL;
-- +goose StatementEnd
