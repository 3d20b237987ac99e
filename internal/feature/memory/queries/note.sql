INSERT INTO memory_history (user_id, seq, at, fact_id, folder_id, batch, act, why, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
