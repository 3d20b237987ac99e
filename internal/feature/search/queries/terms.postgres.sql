INSERT INTO search_index (user_id, seq, terms)
SELECT $1, seq, array_to_tsvector(string_to_array($6, ' ')) FROM search_docs
WHERE user_id = $1 AND thread_id = $2 AND form = $3 AND ref = $4 AND part = $5
