-- A try that does not count: it is given back, to be begun at $7.
UPDATE jobs SET owner = '', attempts = attempts - 1, updated_at = $6, not_before = $7
WHERE user_id = $1 AND job_kind = $2 AND key = $3 AND owner = $4 AND fence = $5
