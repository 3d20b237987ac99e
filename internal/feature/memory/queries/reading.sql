SELECT body FROM memory_reads WHERE user_id = $1 AND thread_id = $2
