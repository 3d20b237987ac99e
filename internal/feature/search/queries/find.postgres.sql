-- As find.sql. The planner knows no frequency of a term in a parameter, so both ways are taken: many of the last rows have a frequent
-- term, and where they have too few, the index finds the rows. $2 has the signs of FTS5. What is laid down in steps (LATERAL, OFFSET 0)
-- is looked up row by row in the order of seq, until there are enough: the planner, left to itself, joins all rows that match first.
SELECT d.thread_id, t.title, d.form, d.ref, d.role, d.at, d.text
FROM (
    WITH q AS MATERIALIZED (
        SELECT CAST(replace(replace(replace(replace(CAST($2 AS TEXT), '"', ''''), ' AND ', ' & '), ' NOT ', ' & !'), ''' *', ''':*')
            AS tsquery) AS query
    ), near AS MATERIALIZED (
        SELECT l.seq FROM (
            SELECT d.seq, d.thread_id FROM search_docs d
            WHERE d.user_id = $1
            AND ($4 = '' OR d.thread_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(NULLIF($4, '') AS json)))))
            AND d.at >= $5 AND d.at < $6
            ORDER BY d.seq DESC LIMIT 2000
        ) l CROSS JOIN q CROSS JOIN LATERAL (
            SELECT 1 FROM search_index i WHERE i.seq = l.seq AND i.terms @@ q.query OFFSET 0
        ) i CROSS JOIN LATERAL (
            SELECT 1 FROM threads t WHERE t.id = l.thread_id AND t.user_id = $1 AND t.marks <= CAST($3 AS BIGINT) OFFSET 0
        ) t ORDER BY l.seq DESC LIMIT $7
    )
    SELECT seq FROM near WHERE (SELECT count(*) FROM near) >= $7
    UNION ALL
    SELECT i.seq FROM search_index i
    WHERE i.user_id = $1 AND i.terms @@ (SELECT query FROM q) AND (SELECT count(*) FROM near) < $7
    ORDER BY seq DESC
) s CROSS JOIN LATERAL (
    SELECT * FROM search_docs d WHERE d.seq = s.seq AND d.user_id = $1
    AND ($4 = '' OR d.thread_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(NULLIF($4, '') AS json)))))
    AND d.at >= $5 AND d.at < $6 OFFSET 0
) d CROSS JOIN LATERAL (
    SELECT title FROM threads t WHERE t.id = d.thread_id AND t.user_id = $1 AND t.marks <= CAST($3 AS BIGINT) OFFSET 0
) t
ORDER BY s.seq DESC LIMIT $7
