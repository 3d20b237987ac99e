-- As find.sql. The planner knows no frequency of a term in a parameter, so both ways are taken: many of the last rows have a frequent
-- term, and where they have too few, the index finds the rows. $2 has the signs of FTS5.
SELECT d.thread_id, t.title, d.form, d.ref, d.role, d.at, d.text
FROM search_docs d JOIN threads t ON t.id = d.thread_id
WHERE d.user_id = $1 AND t.user_id = $1
AND ($4 = '' OR d.thread_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(NULLIF($4, '') AS json)))))
AND d.at >= $5 AND d.at < $6 AND t.marks <= CAST($3 AS BIGINT)
AND d.seq IN (
    WITH q AS MATERIALIZED (
        SELECT CAST(replace(replace(replace(replace(CAST($2 AS TEXT), '"', ''''), ' AND ', ' & '), ' NOT ', ' & !'), ''' *', ''':*')
            AS tsquery) AS query
    ), near AS MATERIALIZED (
        SELECT l.seq FROM (
            SELECT d.seq FROM search_docs d JOIN threads t ON t.id = d.thread_id
            WHERE d.user_id = $1 AND t.user_id = $1
            AND ($4 = '' OR d.thread_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(NULLIF($4, '') AS json)))))
            AND d.at >= $5 AND d.at < $6 AND t.marks <= CAST($3 AS BIGINT)
            ORDER BY d.seq DESC LIMIT 2000
        ) l CROSS JOIN q CROSS JOIN LATERAL (
            SELECT 1 FROM search_index i WHERE i.seq = l.seq AND i.terms @@ q.query OFFSET 0
        ) i ORDER BY l.seq DESC LIMIT $7
    )
    SELECT seq FROM near
    UNION ALL
    SELECT i.seq FROM search_index i
    WHERE i.user_id = $1 AND i.terms @@ (SELECT query FROM q) AND (SELECT count(*) FROM near) < $7
)
ORDER BY d.seq DESC LIMIT $7
