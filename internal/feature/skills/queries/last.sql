SELECT COALESCE(MAX(seq), 0) FROM skill_history WHERE user_id = $1 AND name = $2
