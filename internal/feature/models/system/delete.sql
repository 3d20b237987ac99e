DELETE FROM model_entries WHERE name = $1
