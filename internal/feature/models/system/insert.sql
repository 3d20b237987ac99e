INSERT INTO model_entries (name, provider, model, base_url, seal, keyed, settings, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT (name) DO NOTHING
