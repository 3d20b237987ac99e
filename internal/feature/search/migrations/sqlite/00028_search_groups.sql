-- PostgreSQL alone needs groups of rows: FTS5 goes through what it finds from the newest on.

-- +goose Up
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
