SELECT COUNT(*) FROM model_entries
