-- When the next job of each kind may begin.
SELECT kind, min(not_before) FROM jobs WHERE owner = '' AND dead_at = 0 GROUP BY kind
