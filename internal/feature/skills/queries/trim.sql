DELETE FROM skill_history WHERE user_id = $1 AND name = $2 AND seq <= $3
