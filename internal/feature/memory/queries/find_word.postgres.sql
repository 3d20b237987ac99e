-- As find_word.sql; OFFSET and revision are as in find.postgres.sql.
SELECT t.seq FROM memory_terms t
WHERE t.user_id = $1 AND t.term = $3
AND ($4 = '' OR EXISTS (SELECT 1 FROM memory_terms o WHERE o.user_id = $1 AND o.term = $4 AND o.seq = t.seq))
AND EXISTS (SELECT 1 FROM memory_facts f WHERE f.user_id = $1 AND f.seq = t.seq AND ($2 = '' OR f.status = $2) AND f.revision >= 0 OFFSET 0)
ORDER BY t.seq DESC LIMIT $5
