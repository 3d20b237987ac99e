-- As find.sql. The planner knows no frequency of a term in a parameter, so both ways are taken. The last rows are walked one by one, the
-- newest first, as long as one of twelve matches: a frequent term has enough of them there. Else the index finds the rows. $2 has the signs
-- of FTS5. What is laid down in steps (LATERAL, LIMIT 1, OFFSET 0, the two bounds that say d.user_id = $1) is looked up row by row: the planner, left to itself, sorts all rows first.
SELECT d.thread_id, t.title, d.form, d.ref, d.role, d.at, d.text
FROM (
    WITH RECURSIVE q AS MATERIALIZED (
        SELECT CAST(replace(replace(replace(replace(CAST($2 AS TEXT), '"', ''''), ' AND ', ' & '), ' NOT ', ' & !'), ''' *', ''':*')
            AS tsquery) AS query
    ), walk AS (
        SELECT CAST(9223372036854775807 AS BIGINT) AS seq, 0 AS hit, 0 AS hits, 0 AS walked
        UNION ALL
        SELECT d.seq, h.hit, w.hits + h.hit, w.walked + 1
        FROM walk w CROSS JOIN LATERAL (
            SELECT d.seq, d.thread_id, d.at FROM search_docs d
            WHERE (d.user_id, d.seq) > ($1, 0) AND (d.user_id, d.seq) < ($1, w.seq) ORDER BY d.user_id DESC, d.seq DESC LIMIT 1
        ) d CROSS JOIN LATERAL (
            SELECT count(*)::INT AS hit FROM (
                SELECT 1 FROM search_index i WHERE i.seq = d.seq AND i.terms @@ (SELECT query FROM q) AND d.at >= $5 AND d.at < $6
                AND ($4 = '' OR d.thread_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(NULLIF($4, '') AS json))))) OFFSET 0
            ) i CROSS JOIN LATERAL (
                SELECT 1 FROM threads t WHERE t.id = d.thread_id AND t.user_id = $1 AND t.marks <= CAST($3 AS BIGINT) OFFSET 0
            ) t
        ) h
        WHERE w.hits < $7 AND (w.walked < 250 OR w.hits * 12 >= w.walked)
    ), near AS MATERIALIZED (
        SELECT seq FROM walk WHERE hit = 1
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
