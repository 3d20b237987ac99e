-- Each request for a job counts those of its user and kind that are not dead: from this index alone, without their rows.

-- +goose Up
-- +goose StatementBegin
CREATE INDEX jobs_of_user ON jobs (user_id, job_kind) WHERE dead_at = 0;
-- +goose StatementEnd
