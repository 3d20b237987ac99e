-- The versions in force, of all graphs or of one, in an order that a parameter names.
SELECT id, version, graph_id, name, created_at, updated_at, description, config, context, metadata FROM assistants
WHERE user_id = $1 AND in_force = 1 AND (CAST($2 AS TEXT) = '' OR graph_id = $2)
ORDER BY CASE CAST($3 AS TEXT) WHEN 'created_at' THEN created_at WHEN 'updated_at' THEN updated_at ELSE 0 END DESC,
    CASE CAST($3 AS TEXT) WHEN 'name' THEN name ELSE id END DESC, id DESC
LIMIT $4 OFFSET $5
