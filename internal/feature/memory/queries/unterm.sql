DELETE FROM memory_terms WHERE user_id = $1 AND seq = $2
