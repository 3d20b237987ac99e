SELECT id, version, graph_id, name, created_at, updated_at, description, config, context, metadata FROM assistants
WHERE user_id = $1 AND id = $2 AND in_force = 1
