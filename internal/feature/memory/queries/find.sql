-- The newest facts of a status with a term from $3 to before $4, and with the term $5 unless that is empty.
SELECT DISTINCT t.seq FROM memory_terms t
WHERE t.user_id = $1 AND t.term >= $3 AND t.term < $4
AND ($5 = '' OR EXISTS (SELECT 1 FROM memory_terms o WHERE o.user_id = $1 AND o.term = $5 AND o.seq = t.seq))
AND EXISTS (SELECT 1 FROM memory_facts f WHERE f.user_id = $1 AND f.seq = t.seq AND ($2 = '' OR f.status = $2))
ORDER BY t.seq DESC LIMIT $6
