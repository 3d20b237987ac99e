-- stalled counts the attempts of a run since the last one that got a step further.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE runs ADD COLUMN stalled INTEGER NOT NULL DEFAULT 0;
-- +goose StatementEnd
