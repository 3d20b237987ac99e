-- The number of the change from which on there are $2, 0 if there are fewer.
SELECT number FROM news WHERE user_id = $1 ORDER BY number DESC LIMIT 1 OFFSET $2
