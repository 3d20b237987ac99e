-- The terms of the row that was just added.
INSERT INTO search_index (user_id, rowid, terms)
SELECT $1, seq, $6 FROM search_docs WHERE user_id = $1 AND thread_id = $2 AND form = $3 AND ref = $4 AND part = $5
