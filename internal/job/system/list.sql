-- Jobs of the kind $1, or all, of the user $2, or all; the dead alone if $3 is 1.
SELECT job_kind, key, user_id, thread_id, attempts, error, owner, not_before, created_at, dead_at FROM jobs
WHERE (job_kind = $1 OR CAST($1 AS TEXT) = '') AND (user_id = $2 OR CAST($2 AS TEXT) = '') AND (dead_at > 0 OR CAST($3 AS BIGINT) = 0)
ORDER BY CASE WHEN dead_at > 0 THEN 2 WHEN owner = '' THEN 1 ELSE 0 END, -dead_at, not_before, job_kind, key LIMIT $4
