-- As that of SQLite: of each term that begins so, the newest rows are taken, which stand in the order of seq. OFFSET and
-- revision are as in find.postgres.sql.
SELECT DISTINCT s.seq FROM (
    WITH RECURSIVE words AS (
        (SELECT term FROM memory_terms WHERE user_id = $1 AND term >= $3 AND term < $4 ORDER BY term LIMIT 1)
        UNION ALL
        SELECT n.term FROM words w CROSS JOIN LATERAL (
            SELECT term FROM memory_terms WHERE user_id = $1 AND term > w.term AND term < $4 ORDER BY term LIMIT 1
        ) n
    )
    SELECT term FROM words
) w CROSS JOIN LATERAL (
    SELECT t.seq FROM memory_terms t
    WHERE t.user_id = $1 AND t.term = w.term
    AND EXISTS (SELECT 1 FROM memory_facts f WHERE f.user_id = $1 AND f.seq = t.seq AND ($2 = '' OR f.status = $2) AND f.revision >= 0 OFFSET 0)
    AND ($5 = '' OR EXISTS (SELECT 1 FROM memory_terms o WHERE o.user_id = $1 AND o.term = $5 AND o.seq = t.seq OFFSET 0))
    ORDER BY t.seq DESC LIMIT $6
) s
ORDER BY s.seq DESC LIMIT $6
