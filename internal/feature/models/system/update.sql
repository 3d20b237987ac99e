UPDATE model_entries SET provider = $2, model = $3, base_url = $4, seal = $5, keyed = $6, settings = $7, updated_at = $8 WHERE name = $1
