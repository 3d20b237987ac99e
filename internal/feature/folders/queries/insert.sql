INSERT INTO folders (user_id, id, name, colour, created_at, updated_at, instructions) VALUES ($1, $2, $3, $4, $5, $6, $7)
