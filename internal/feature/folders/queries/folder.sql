SELECT id, name, colour, created_at, updated_at, instructions FROM folders WHERE user_id = $1 AND id = $2
