-- One Chinese, Japanese or Korean sign is looked for as the beginning of its pairs: behind the six characters of the user, it is the
-- seventh. Without an index of beginnings of seven, the lists of all its pairs were merged for every search, four times the time of
-- any other. The index is made anew; the jobs of the search fill it.

-- +goose Up
DROP TRIGGER search_docs_gone;
DROP TABLE search_index;
DELETE FROM search_docs;
DELETE FROM search_threads;
CREATE VIRTUAL TABLE search_index USING fts5 (
    user_id UNINDEXED, terms, content = '', contentless_delete = 1, detail = none, prefix = '7 8', tokenize = "ascii tokenchars '§'"
);
-- +goose StatementBegin
CREATE TRIGGER search_docs_gone AFTER DELETE ON search_docs BEGIN
    DELETE FROM search_index WHERE rowid = old.seq;
END;
-- +goose StatementEnd
