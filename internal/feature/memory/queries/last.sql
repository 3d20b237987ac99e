-- The last batch that was not undone.
SELECT h.batch FROM memory_history h WHERE h.user_id = $1 AND h.batch <> '' AND h.act <> 'undone'
AND NOT EXISTS (SELECT 1 FROM memory_history u WHERE u.user_id = h.user_id AND u.batch = h.batch AND u.act = 'undone')
ORDER BY h.seq DESC LIMIT 1
