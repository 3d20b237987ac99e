-- What the next version may do to the tables while the one before works on them: it adds a column that has a default, and a table.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE jobs ADD COLUMN newer TEXT NOT NULL DEFAULT '';
CREATE TABLE newer (user_id TEXT NOT NULL PRIMARY KEY);
-- +goose StatementEnd
