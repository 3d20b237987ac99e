-- The rows of a user are numbered, and each has the term of its group of 1,024 besides. So the index alone says which
-- of the newest rows match: what two frequent terms share is not found among all that have them. The jobs of the search
-- fill the index anew.

-- +goose Up
-- +goose StatementBegin
TRUNCATE search_docs, search_index, search_threads;
ALTER TABLE search_index ADD COLUMN number BIGINT NOT NULL;
CREATE INDEX search_index_by_user ON search_index (user_id, number);
-- +goose StatementEnd
