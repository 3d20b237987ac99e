-- A job that is done and has another turn: it was asked for again meanwhile, or it is one that comes back at $7.
UPDATE jobs SET owner = '', attempts = 0, error = '', updated_at = $6,
    not_before = CASE WHEN generation = taken THEN $7 ELSE not_before END
WHERE user_id = $1 AND job_kind = $2 AND key = $3 AND owner = $4 AND fence = $5
