SELECT id, version, graph_id, name, created_at, updated_at, description, config, context, metadata FROM assistants
WHERE user_id = $1 AND id = $2 ORDER BY version DESC LIMIT $3 OFFSET $4
