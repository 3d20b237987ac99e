INSERT INTO skill_states (user_id, name, enabled, uses, used_at) VALUES ($1, $2, 1, 1, $3)
ON CONFLICT (user_id, name) DO UPDATE SET uses = skill_states.uses + 1, used_at = excluded.used_at
