INSERT INTO skill_states (user_id, name, enabled, uses, used_at) VALUES ($1, $2, $3, 0, 0)
ON CONFLICT (user_id, name) DO UPDATE SET enabled = excluded.enabled
