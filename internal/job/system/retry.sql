-- Has jobs that wait, or are dead, done at once, with all tries before them. Those that run stay as they are.
UPDATE jobs SET attempts = 0, dead_at = 0, updated_at = $4, not_before = $4
WHERE job_kind = $1 AND key = $2 AND (user_id = $3 OR CAST($3 AS TEXT) = '') AND owner = ''
