-- A run that waits may be what a person says to the run at work, a steer: steers is that run then, else empty. While it waits its
-- attempt is 0. The run that takes it says so there and makes it a success; if none does, it is a run of its own and has attempts.
-- One that waits for the answer to a question has the last second of 9999 in not_before.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE runs ADD COLUMN steers TEXT NOT NULL DEFAULT '';
-- +goose StatementEnd
