INSERT INTO run_secrets (user_id, run_id, thread_id, sealed) VALUES ($1, $2, $3, $4)
