INSERT INTO memory_terms (user_id, term, seq) VALUES ($1, $2, $3) ON CONFLICT (user_id, term, seq) DO NOTHING
