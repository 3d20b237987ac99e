-- What was learned in a thread.
SELECT id FROM memory_facts WHERE user_id = $1 AND thread_id = $2
