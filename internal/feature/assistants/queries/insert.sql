-- A version that is in force.
INSERT INTO assistants (user_id, id, version, in_force, graph_id, name, created_at, updated_at, description, config, context, metadata)
VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9, $10, $11)
