INSERT INTO skill_switches (name, enabled) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET enabled = excluded.enabled
