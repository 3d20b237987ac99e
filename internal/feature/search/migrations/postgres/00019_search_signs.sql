-- As that of SQLite: each Chinese, Japanese or Korean character is a term of its own. The jobs of the search fill the index anew.

-- +goose Up
-- +goose StatementBegin
TRUNCATE search_docs, search_index, search_threads;
-- +goose StatementEnd
