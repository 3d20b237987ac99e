INSERT INTO search_docs (user_id, thread_id, form, ref, part, role, at, digest, text)
SELECT $1, t.id, $3, $4, CAST($5 AS BIGINT), $6, CAST($7 AS BIGINT), $8, $9 FROM threads t WHERE t.user_id = $1 AND t.id = $2
