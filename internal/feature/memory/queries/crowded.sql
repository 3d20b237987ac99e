-- How many active facts are for an agent in a folder.
SELECT count(*) FROM memory_facts WHERE user_id = $1 AND status = 'active' AND agent = $2 AND COALESCE(folder_id, '') = $3
