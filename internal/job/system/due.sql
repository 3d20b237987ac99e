-- When the next job of each kind may begin. Of jobs_waiting one entry is read for each kind and number of attempts, however
-- many jobs wait.
SELECT k, min(at) FROM (
    WITH RECURSIVE kinds (k) AS (
        SELECT min(job_kind) FROM jobs WHERE owner = '' AND dead_at = 0
        UNION ALL
        SELECT (SELECT min(job_kind) FROM jobs WHERE owner = '' AND dead_at = 0 AND job_kind > k) FROM kinds WHERE k IS NOT NULL
    ), tries (k, n) AS (
        SELECT k, (SELECT min(attempts) FROM jobs WHERE owner = '' AND dead_at = 0 AND job_kind = k) FROM kinds
        WHERE k IS NOT NULL
        UNION ALL
        SELECT k, (SELECT min(attempts) FROM jobs WHERE owner = '' AND dead_at = 0 AND job_kind = k AND attempts > n) FROM tries
        WHERE n IS NOT NULL
    )
    SELECT k, (SELECT min(not_before) FROM jobs WHERE owner = '' AND dead_at = 0 AND job_kind = k AND attempts = n) AS at
    FROM tries WHERE n IS NOT NULL
) AS firsts GROUP BY k
