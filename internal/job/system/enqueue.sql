-- One more request for a job; a new one only unless $9 says that the user has as many as he may. Then it changes no row. A job
-- that waits is pushed back up to its latest time, one that waits for its next try is not; one that runs gets its next turn,
-- and a dead one begins afresh.
INSERT INTO jobs (user_id, job_kind, key, thread_id, generation, taken, attempts, fence, owner, not_before, latest,
    created_at, updated_at, dead_at, error, body)
SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), 1, 0, 0, CAST($7 AS BIGINT), '',
    CAST($5 AS BIGINT), CAST($6 AS BIGINT), CAST($7 AS BIGINT), CAST($7 AS BIGINT), 0, '', CAST($8 AS TEXT)
WHERE CAST($9 AS BIGINT) = 0
    OR EXISTS (SELECT 1 FROM jobs WHERE user_id = $1 AND job_kind = $2 AND key = $3)
ON CONFLICT (user_id, job_kind, key) DO UPDATE SET
    generation = jobs.generation + 1,
    body = excluded.body,
    thread_id = excluded.thread_id,
    updated_at = excluded.updated_at,
    attempts = CASE WHEN jobs.dead_at > 0 THEN 0 ELSE jobs.attempts END,
    error = CASE WHEN jobs.dead_at > 0 THEN '' ELSE jobs.error END,
    dead_at = 0,
    not_before = CASE
        WHEN jobs.dead_at > 0 OR jobs.owner <> '' AND jobs.generation = jobs.taken THEN excluded.not_before
        WHEN jobs.owner = '' AND jobs.attempts > 0 THEN jobs.not_before
        WHEN excluded.not_before < jobs.latest THEN excluded.not_before
        ELSE jobs.latest END,
    latest = CASE
        WHEN jobs.dead_at > 0 OR jobs.owner <> '' AND jobs.generation = jobs.taken THEN excluded.latest
        ELSE jobs.latest END
