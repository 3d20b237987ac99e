-- As that of SQLite: each OFFSET keeps PostgreSQL from comparing all facts with all terms.
SELECT f.seq FROM (
    SELECT seq FROM memory_facts WHERE user_id = $1 AND ($2 = '' OR status = $2) ORDER BY seq DESC OFFSET 0
) f
WHERE EXISTS (SELECT 1 FROM memory_terms t WHERE t.user_id = $1 AND t.seq = f.seq AND t.term >= $3 AND t.term < $4 OFFSET 0)
AND ($5 = '' OR EXISTS (SELECT 1 FROM memory_terms o WHERE o.user_id = $1 AND o.term = $5 AND o.seq = f.seq OFFSET 0))
ORDER BY f.seq DESC LIMIT $6
