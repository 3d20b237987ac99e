DELETE FROM memory_facts WHERE user_id = $1
