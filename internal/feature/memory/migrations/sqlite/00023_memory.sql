-- What is remembered of a user. memory_docs has one row for each: the summaries, and a revision that every write raises. A fact is a
-- row of memory_facts: active, proposed (it waits for a yes), or gone, which it is for a while before it is deleted, so that it can
-- come back. memory_terms are the words that it is found by; its seq grows, so that the last facts are the newest. memory_sources
-- has what a human said that a fact was learned from, and goes with the thread. memory_uses says which threads were told of a fact,
-- memory_history what became of each fact. Facts of a folder go with it.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE memory_docs (
    user_id    TEXT    NOT NULL PRIMARY KEY,
    revision   INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body       TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE memory_facts (
    user_id    TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    seq        INTEGER NOT NULL,
    status     TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    folder_id  TEXT,
    thread_id  TEXT    NOT NULL,
    category   TEXT    NOT NULL,
    confidence INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    gone_at    INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,
    uses       INTEGER NOT NULL,
    body       TEXT    NOT NULL,
    content    TEXT    NOT NULL,
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, folder_id) REFERENCES folders (user_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX memory_facts_by_seq ON memory_facts (user_id, seq);
CREATE INDEX memory_facts_by_folder ON memory_facts (user_id, folder_id) WHERE folder_id IS NOT NULL;
CREATE TABLE memory_terms (
    user_id TEXT    NOT NULL,
    term    TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (user_id, term, seq),
    FOREIGN KEY (user_id, seq) REFERENCES memory_facts (user_id, seq) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_terms_by_fact ON memory_terms (user_id, seq);
CREATE TABLE memory_sources (
    user_id    TEXT    NOT NULL,
    fact_id    TEXT    NOT NULL,
    message_id TEXT    NOT NULL,
    thread_id  TEXT    NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    at         INTEGER NOT NULL,
    words      TEXT    NOT NULL,
    PRIMARY KEY (user_id, fact_id, message_id),
    FOREIGN KEY (user_id, fact_id) REFERENCES memory_facts (user_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_sources_by_thread ON memory_sources (thread_id);
CREATE TABLE memory_uses (
    user_id   TEXT    NOT NULL,
    fact_id   TEXT    NOT NULL,
    thread_id TEXT    NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    at        INTEGER NOT NULL,
    PRIMARY KEY (user_id, fact_id, thread_id),
    FOREIGN KEY (user_id, fact_id) REFERENCES memory_facts (user_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_uses_by_thread ON memory_uses (thread_id);
CREATE TABLE memory_history (
    user_id   TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    fact_id   TEXT    NOT NULL,
    folder_id TEXT,
    batch     TEXT    NOT NULL,
    act       TEXT    NOT NULL,
    why       TEXT    NOT NULL,
    body      TEXT    NOT NULL,
    PRIMARY KEY (user_id, seq),
    FOREIGN KEY (user_id, folder_id) REFERENCES folders (user_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_history_by_fact ON memory_history (user_id, fact_id, seq);
CREATE INDEX memory_history_by_folder ON memory_history (user_id, folder_id) WHERE folder_id IS NOT NULL;
-- +goose StatementEnd
