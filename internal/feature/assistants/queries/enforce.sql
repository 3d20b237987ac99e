UPDATE assistants SET in_force = 1 WHERE user_id = $1 AND id = $2 AND version = $3
RETURNING id, version, graph_id, name, created_at, updated_at, description, config, context, metadata
