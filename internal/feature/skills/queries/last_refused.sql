SELECT COALESCE(MAX(seq), 0) FROM skill_refusals WHERE user_id = $1
