-- The newest facts of a status with a term from $3 to before $4, and with the term $5 unless that is empty. The sign before seq keeps
-- SQLite from going through all facts in their order, which is for terms that many have.
SELECT s.seq FROM (
    SELECT DISTINCT +t.seq AS seq FROM memory_terms t WHERE t.user_id = $1 AND t.term >= $3 AND t.term < $4
) s
WHERE ($5 = '' OR EXISTS (SELECT 1 FROM memory_terms o WHERE o.user_id = $1 AND o.term = $5 AND o.seq = s.seq))
AND EXISTS (SELECT 1 FROM memory_facts f WHERE f.user_id = $1 AND f.seq = s.seq AND ($2 = '' OR f.status = $2))
ORDER BY s.seq DESC LIMIT $6
