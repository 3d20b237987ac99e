-- Whether a job is still to be done, or being done.
SELECT key FROM jobs WHERE user_id = $1 AND job_kind = $2 AND key = $3 AND dead_at = 0
