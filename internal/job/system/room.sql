-- How many jobs of a kind a user has that are not dead, of $3 at most.
SELECT count(*) FROM (SELECT 1 FROM jobs WHERE user_id = $1 AND job_kind = $2 AND dead_at = 0 LIMIT CAST($3 AS BIGINT)) AS found
