-- What is found by words. A row of search_docs is a title, a piece of a message or the name of a file; seq grows, so that the last
-- ones are the newest. text stands last: to read a column behind a long one, SQLite reads all of its pages. search_index has the
-- terms of each row under its seq, and nothing else: it holds which rows have a term, not where in the text. Those who type search by
-- two characters first, behind the six of the user. search_threads says
-- what of a thread was indexed.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE search_threads (
    thread_id TEXT NOT NULL PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
    user_id   TEXT NOT NULL,
    head      TEXT NOT NULL,
    title     TEXT NOT NULL
) STRICT;
CREATE INDEX search_threads_by_user ON search_threads (user_id);
CREATE TABLE search_docs (
    seq       INTEGER PRIMARY KEY,
    user_id   TEXT    NOT NULL,
    thread_id TEXT    NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    form      TEXT    NOT NULL,
    ref       TEXT    NOT NULL,
    part      INTEGER NOT NULL,
    role      TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    digest    TEXT    NOT NULL,
    text      TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX search_docs_by_thread ON search_docs (thread_id, form, ref, part);
CREATE INDEX search_docs_by_user ON search_docs (user_id);
CREATE VIRTUAL TABLE search_index USING fts5 (
    user_id UNINDEXED, terms, content = '', contentless_delete = 1, detail = none, prefix = '8', tokenize = "ascii tokenchars '§'"
);
CREATE TRIGGER search_docs_gone AFTER DELETE ON search_docs BEGIN
    DELETE FROM search_index WHERE rowid = old.seq;
END;
-- +goose StatementEnd
