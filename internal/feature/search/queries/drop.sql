DELETE FROM search_docs WHERE user_id = $1 AND thread_id = $2 AND seq = $3
