SELECT id, name, colour, created_at, updated_at, instructions FROM folders
WHERE user_id = $1 ORDER BY name, id LIMIT $2 OFFSET $3
