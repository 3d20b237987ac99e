-- Nothing, if it is another one meanwhile.
UPDATE skills SET digest = $4, updated_at = $5, body = $6 WHERE user_id = $1 AND name = $2 AND digest = $3
