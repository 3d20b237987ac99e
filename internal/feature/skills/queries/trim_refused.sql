DELETE FROM skill_refusals WHERE user_id = $1 AND seq <= $2
