-- When the next job of each kind may begin.
SELECT job_kind, min(not_before) FROM jobs WHERE owner = '' AND dead_at = 0 GROUP BY job_kind
