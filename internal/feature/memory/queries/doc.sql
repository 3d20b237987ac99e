SELECT revision, updated_at, body FROM memory_docs WHERE user_id = $1
