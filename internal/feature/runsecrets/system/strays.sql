SELECT s.run_id FROM run_secrets s LEFT JOIN runs r ON r.id = s.run_id
WHERE r.id IS NULL OR r.user_id <> s.user_id OR r.thread_id <> s.thread_id OR r.status NOT IN ('pending', 'running')
