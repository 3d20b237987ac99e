-- The terms of the row that was just added. It is numbered behind the last of the user, and gets the term of its group
-- of 1,024 beside its own, with the six signs that begin all terms of the user. The two bounds say user_id = $1, as in
-- find.postgres.sql.
INSERT INTO search_index (user_id, seq, number, terms)
SELECT $1, d.seq, n.number, array_to_tsvector(string_to_array($6 || ' ' || left($6, 6) || '§' || (n.number >> 10), ' '))
FROM search_docs d CROSS JOIN (
    SELECT 1 + COALESCE((
        SELECT number FROM search_index WHERE (user_id, number) > ($1, 0) AND (user_id, number) < ($1, CAST(1 AS BIGINT) << 50)
        ORDER BY user_id DESC, number DESC LIMIT 1
    ), 0) AS number
) n
WHERE d.user_id = $1 AND d.thread_id = $2 AND d.form = $3 AND d.ref = $4 AND d.part = $5
