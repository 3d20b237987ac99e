UPDATE assistants SET in_force = 0 WHERE user_id = $1 AND id = $2 AND in_force = 1
