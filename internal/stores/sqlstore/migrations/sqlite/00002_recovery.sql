-- stalled counts the attempts of a run since the last one that got a step further.

-- +goose Up
ALTER TABLE runs ADD COLUMN stalled INTEGER NOT NULL DEFAULT 0;
