-- The one job of a kind of the system.
INSERT INTO jobs (user_id, job_kind, key, thread_id, generation, taken, attempts, fence, owner, not_before, latest,
    created_at, updated_at, dead_at, error, body)
VALUES ('', $1, $1, '', 1, 0, 0, $2, '', $3, $3, $2, $2, 0, '', NULL)
ON CONFLICT (user_id, job_kind, key) DO NOTHING
