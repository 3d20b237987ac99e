-- The dead jobs of a kind but for the newest $2.
DELETE FROM jobs WHERE job_kind = $1 AND dead_at > 0 AND dead_at <= (SELECT dead_at FROM jobs
    WHERE job_kind = $1 AND dead_at > 0 ORDER BY dead_at DESC LIMIT 1 OFFSET $2)
