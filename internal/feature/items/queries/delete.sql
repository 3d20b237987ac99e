DELETE FROM items WHERE user_id = $1 AND namespace = $2 AND key = $3
