-- As find.sql. The planner knows no frequency of a term in a parameter, so both ways are taken. First the groups of
-- the user's rows (terms.postgres.sql) are looked into, the newest first, as long as each has its eighth of the rows
-- that are wanted: there are enough of a frequent term. Else the index is asked for all rows, which are few. Where a
-- beginning is looked for, each look collects the rows of all words that begin so: four groups are looked into at once.
-- Titles are few, too. $2 has the signs of FTS5, and begins with a term. What is laid down in steps (LATERAL, LIMIT 1,
-- OFFSET 0, the two bounds that say user_id = $1) is looked up row by row: the planner, left to itself, sorts all rows
-- first. That a row is the user's says the document.
SELECT d.thread_id, t.title, d.form, d.ref, d.role, d.at, d.text
FROM (
    WITH RECURSIVE q AS MATERIALIZED (
        SELECT CAST(replace(replace(replace(replace(CAST($2 AS TEXT), '"', ''''), ' AND ', ' & '), ' NOT ', ' & !'), ''' *', ''':*')
            AS tsquery) AS query, '''' || substr($2, 2, 6) || '§' AS user_group, CASE WHEN $2 LIKE '%" *%' THEN 3 ELSE 0 END AS more
    ), walk AS (
        SELECT CAST(1 AS BIGINT) << 40 AS place, 0 AS step, 0 AS hits, CAST('{}' AS BIGINT[]) AS found
        WHERE $2 NOT LIKE '%§title"'
        UNION ALL
        SELECT g.place - q.more, w.step + 1 + q.more, w.hits + h.hits, h.found
        FROM walk w CROSS JOIN q CROSS JOIN LATERAL (
            SELECT number >> 10 AS place FROM search_index
            WHERE (user_id, number) > ($1, 0) AND (user_id, number) < ($1, w.place << 10) ORDER BY user_id DESC, number DESC LIMIT 1
        ) g CROSS JOIN LATERAL (
            SELECT CAST(count(*) AS INT) AS hits, array_agg(i.seq) AS found FROM (
                SELECT i.seq FROM search_index i
                WHERE i.terms @@ (q.query && CAST((
                    SELECT string_agg(q.user_group || n || '''', ' | ') FROM generate_series(g.place - q.more, g.place) n
                ) AS tsquery)) OFFSET 0
            ) i CROSS JOIN LATERAL (
                SELECT d.thread_id FROM search_docs d WHERE d.user_id = $1 AND d.seq = i.seq AND d.at >= $5 AND d.at < $6
                AND ($4 = '' OR d.thread_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(NULLIF($4, '') AS json))))) OFFSET 0
            ) d CROSS JOIN LATERAL (
                SELECT 1 FROM threads t WHERE t.user_id = $1 AND t.id = d.thread_id AND t.marks <= CAST($3 AS BIGINT) OFFSET 0
            ) t
        ) h
        WHERE w.hits < $7 AND w.hits * 8 >= (w.step - 1) * $7
    ), near AS MATERIALIZED (
        SELECT unnest(found) AS seq FROM walk
    )
    SELECT seq FROM near WHERE (SELECT count(*) FROM near) >= $7
    UNION ALL
    SELECT i.seq FROM search_index i WHERE i.terms @@ (SELECT query FROM q) AND (SELECT count(*) FROM near) < $7
    ORDER BY seq DESC
) s CROSS JOIN LATERAL (
    SELECT * FROM search_docs d WHERE d.user_id = $1 AND d.seq = s.seq
    AND ($4 = '' OR d.thread_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(NULLIF($4, '') AS json)))))
    AND d.at >= $5 AND d.at < $6 OFFSET 0
) d CROSS JOIN LATERAL (
    SELECT title FROM threads t WHERE t.user_id = $1 AND t.id = d.thread_id AND t.marks <= CAST($3 AS BIGINT) OFFSET 0
) t
ORDER BY s.seq DESC LIMIT $7
