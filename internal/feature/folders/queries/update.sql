UPDATE folders SET name = COALESCE($3, name), colour = COALESCE($4, colour), instructions = COALESCE($5, instructions),
    updated_at = $6
WHERE user_id = $1 AND id = $2
