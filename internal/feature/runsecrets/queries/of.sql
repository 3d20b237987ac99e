SELECT sealed FROM run_secrets WHERE user_id = $1 AND run_id = $2
