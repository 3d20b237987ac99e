SELECT id FROM folders WHERE user_id = $1
