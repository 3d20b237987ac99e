SELECT d.thread_id FROM search_docs d JOIN threads t ON t.id = d.thread_id WHERE d.user_id <> t.user_id LIMIT 100
