SELECT bytes FROM skill_parts WHERE user_id = $1 AND digest = $2 ORDER BY n
