-- What a browser calls itself, so that people tell their sessions apart.

-- +goose Up
ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';
