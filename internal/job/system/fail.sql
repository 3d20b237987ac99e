-- A try that failed for the reason $8; the next is at $7, or there is none if $9 is 1 and nobody has asked again meanwhile.
UPDATE jobs SET owner = '', error = $8, updated_at = CAST($6 AS BIGINT),
    not_before = CASE WHEN generation > taken AND not_before > $7 THEN not_before ELSE $7 END,
    attempts = CASE WHEN CAST($9 AS BIGINT) = 1 AND generation > taken THEN 0 ELSE attempts END,
    dead_at = CASE WHEN CAST($9 AS BIGINT) = 1 AND generation = taken THEN CAST($6 AS BIGINT) ELSE 0 END
WHERE user_id = $1 AND job_kind = $2 AND key = $3 AND owner = $4 AND fence = $5
