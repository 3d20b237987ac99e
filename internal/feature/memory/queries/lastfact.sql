SELECT COALESCE(MAX(seq), 0) FROM memory_facts WHERE user_id = $1
