SELECT 1 FROM folders WHERE user_id = $1 AND id = $2
