-- As find.sql. Before PostgreSQL has statistics of the tables it takes no index well: each OFFSET has it look up row by
-- row, and revision, which is in no index, keeps it from going through one of facts.
SELECT s.seq FROM (
    SELECT DISTINCT t.seq AS seq FROM memory_terms t WHERE t.user_id = $1 AND t.term >= $3 AND t.term < $4 ORDER BY seq DESC OFFSET 0
) s
WHERE ($5 = '' OR EXISTS (SELECT 1 FROM memory_terms o WHERE o.user_id = $1 AND o.term = $5 AND o.seq = s.seq))
AND EXISTS (SELECT 1 FROM memory_facts f WHERE f.user_id = $1 AND f.seq = s.seq AND ($2 = '' OR f.status = $2) AND f.revision >= 0 OFFSET 0)
ORDER BY s.seq DESC LIMIT $6
