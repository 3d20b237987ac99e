-- How many rows have a term from $2 to before $3; no more than $4 are counted.
SELECT count(*) FROM (SELECT 1 AS one FROM memory_terms WHERE user_id = $1 AND term >= $2 AND term < $3 LIMIT $4) c
