SELECT count(*) FROM assistants WHERE user_id = $1 AND in_force = 1 AND (CAST($2 AS TEXT) = '' OR graph_id = $2)
