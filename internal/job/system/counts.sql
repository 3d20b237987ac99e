-- How many jobs of each kind there are, how many of them are dead, and since when the one is due that has waited the longest;
-- 0 if none waits.
SELECT job_kind, count(*), sum(CASE WHEN dead_at > 0 THEN 1 ELSE 0 END),
    COALESCE(min(CASE WHEN dead_at = 0 AND owner = '' THEN not_before END), 0) FROM jobs GROUP BY job_kind
