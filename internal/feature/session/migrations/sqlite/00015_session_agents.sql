-- What a browser calls itself, so that people tell their sessions apart.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';
-- +goose StatementEnd
