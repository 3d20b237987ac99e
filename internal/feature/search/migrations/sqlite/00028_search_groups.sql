-- PostgreSQL alone needs groups of rows: FTS5 goes through what it finds from the newest on.

-- +goose Up
SELECT 1;
