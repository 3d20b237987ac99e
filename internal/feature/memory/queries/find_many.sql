-- As find.sql, for terms that more rows have: the facts are gone through, the newest first, until there are enough.
SELECT f.seq FROM memory_facts f
WHERE f.user_id = $1 AND ($2 = '' OR f.status = $2)
AND EXISTS (SELECT 1 FROM memory_terms t WHERE t.user_id = $1 AND t.seq = f.seq AND t.term >= $3 AND t.term < $4)
AND ($5 = '' OR EXISTS (SELECT 1 FROM memory_terms o WHERE o.user_id = $1 AND o.term = $5 AND o.seq = f.seq))
ORDER BY f.seq DESC LIMIT $6
