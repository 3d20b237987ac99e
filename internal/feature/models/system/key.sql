SELECT provider, base_url, seal, keyed FROM model_entries WHERE name = $1
