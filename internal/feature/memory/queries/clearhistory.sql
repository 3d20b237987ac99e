DELETE FROM memory_history WHERE user_id = $1
