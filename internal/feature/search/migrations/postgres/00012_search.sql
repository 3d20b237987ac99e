-- What is found by words. A row of search_docs is a title, a piece of a message or the name of a file; seq grows, so that the last
-- ones are the newest. search_index has the terms of each row. search_threads says what of a thread was indexed.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE search_threads (
    thread_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
    user_id   TEXT COLLATE "C" NOT NULL,
    head      TEXT COLLATE "C" NOT NULL,
    title     TEXT COLLATE "C" NOT NULL
);
CREATE INDEX search_threads_by_user ON search_threads (user_id);
CREATE TABLE search_docs (
    seq       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id   TEXT   COLLATE "C" NOT NULL,
    thread_id TEXT   COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    form      TEXT   COLLATE "C" NOT NULL,
    ref       TEXT   COLLATE "C" NOT NULL,
    part      BIGINT NOT NULL,
    role      TEXT   COLLATE "C" NOT NULL,
    at        BIGINT NOT NULL,
    digest    TEXT   COLLATE "C" NOT NULL,
    text      TEXT   COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX search_docs_by_thread ON search_docs (thread_id, form, ref, part);
CREATE INDEX search_docs_by_user ON search_docs (user_id, seq);
CREATE TABLE search_index (
    user_id TEXT     COLLATE "C" NOT NULL,
    seq     BIGINT   NOT NULL PRIMARY KEY REFERENCES search_docs (seq) ON DELETE CASCADE,
    terms   TSVECTOR NOT NULL
);
-- A list of what is still to be sorted in would be read by every search.
CREATE INDEX search_index_terms ON search_index USING gin (terms) WITH (fastupdate = off);
-- +goose StatementEnd
