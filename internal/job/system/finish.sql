-- A job that is done and was not asked for again meanwhile.
DELETE FROM jobs WHERE user_id = $1 AND job_kind = $2 AND key = $3 AND owner = $4 AND fence = $5 AND generation = taken
