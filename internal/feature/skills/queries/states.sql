SELECT name, enabled, uses, used_at FROM skill_states WHERE user_id = $1
