SELECT name, provider, model, base_url, seal, keyed, settings, created_at, updated_at FROM model_entries ORDER BY created_at, name
