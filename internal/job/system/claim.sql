-- One job that may begin: of those that were tried least often the one that has waited for the longest, so that many that fail
-- do not keep a new one waiting.
UPDATE jobs SET owner = $2, fence = fence + 1, attempts = attempts + 1, taken = generation, updated_at = $3
WHERE (user_id, job_kind, key) = (SELECT user_id, job_kind, key FROM jobs
    WHERE job_kind = $1 AND owner = '' AND dead_at = 0 AND not_before <= $3 ORDER BY attempts, not_before LIMIT 1)
RETURNING user_id, key, thread_id, taken, attempts, fence, error, body
