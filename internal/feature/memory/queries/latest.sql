SELECT COALESCE(MAX(seq), 0) FROM memory_history WHERE user_id = $1
